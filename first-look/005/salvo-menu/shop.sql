create table dishes (id int primary key, name text);
insert into dishes select i, 'dish ' || i from generate_series(1, 400) i;
create table orders (id bigserial primary key, city text, dish_id int, price numeric(8,2));
insert into orders (city, dish_id, price)
  select (array['porto','lyon','gent','bern'])[1 + i % 4], 1 + (i % 997 * 7919) % 400, 4 + (i % 900) / 50.0
  from generate_series(1, 720000) i;
create index on orders (city);

vacuum (freeze, analyze);
