create table invoices (id int primary key, customer int not null, due date not null, cents int not null);
insert into invoices select g, g % 700, date '2024-01-01' + g % 365, (g * 37) % 90000 from generate_series(1, 50000) g;
create index on invoices (customer);
analyze;
