create table orders (id int primary key, customer int not null);
create table order_lines (id int primary key, order_id int not null, sku text not null, amount int not null, note text not null);
-- customers 1..400: every tenth is a company with 40 orders, the others have one
insert into orders select row_number() over (), c from generate_series(1, 400) c, generate_series(1, case when c % 10 = 0 then 40 else 1 end) n;
insert into order_lines select i, 1 + i % 1960, 'sku-' || i % 977, i % 100, repeat('x', 60) from generate_series(1, 40000) i;
create index on orders (customer);
analyze;
