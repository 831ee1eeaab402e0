create table products (id int primary key, grp int not null, name text not null, price int not null, description text not null);
insert into products select i, i % 20, 'product ' || i, (i * 7919) % 10007, repeat('lorem ipsum ', 8) from generate_series(1, 40000) i;
create index on products (grp);
analyze;
