create table product (id int primary key, title text, cents int, stock int);
insert into product select i, 'Product ' || i, 100 + i * 7, 100000 from generate_series(1, 2000) i;
create table orders (id serial primary key, product int, state text, at timestamptz default now());
analyze;
