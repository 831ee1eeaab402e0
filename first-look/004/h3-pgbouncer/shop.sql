create table product (id int primary key, name text not null, price numeric(8,2) not null);
create table orders (id serial primary key, product int not null, state text not null);
insert into product select i, 'product ' || i, 5 + i % 90 from generate_series(1, 5000) i;
analyze product;
