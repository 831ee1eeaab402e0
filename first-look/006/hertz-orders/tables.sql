create table orders (id int primary key, customer int not null, placed date not null);
create table lines (order_id int not null, n int not null, article text not null, cents int not null, primary key (order_id, n));
insert into orders select g, case when g <= 6000 then 1 + g % 12 else 100 + (g - 6000) / 2 end, date '2024-01-01' + g % 365 from generate_series(1, 12000) g;
insert into lines select o.id, n, 'article ' || (o.id * 7 + n) % 900, 100 + (o.id * 31 + n) % 5000 from orders o, generate_series(1, 4) n;
create index on orders (customer);
analyze;
