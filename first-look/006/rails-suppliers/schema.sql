create table suppliers (id serial primary key, name text not null, town text not null);
create table invoices (id serial primary key, supplier_id int not null, number text not null, due date not null, cents int not null);
insert into suppliers (name, town) select 'Supplier ' || g, 'Town ' || g % 17 from generate_series(1, 200) g;
insert into invoices (supplier_id, number, due, cents) select 1 + g % 200, 'R-' || g, date '2025-01-01' + g % 365, 1000 + g % 9000 from generate_series(1, 12000) g;
create index on invoices (supplier_id);
analyze;
