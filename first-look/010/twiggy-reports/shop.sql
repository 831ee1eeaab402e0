create table item (id int primary key, name text, price numeric(8,2), stock int);

insert into item select g, 'Article ' || g, (g * 37 % 9000) / 100.0, g % 40 from generate_series(1, 2000) g;

create table sale (id int primary key, item_id int, region int, qty int, sold date);

insert into sale select g, 1 + g * 7919 % 2000, g % 12, 1 + g % 5, date '2026-01-01' + g % 180 from generate_series(1, 250000) g;

vacuum analyze;

