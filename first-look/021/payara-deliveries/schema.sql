create role deliveries login password 'deliveries';
create database deliveries owner deliveries;
\connect deliveries
create table depots (id int primary key, name text not null, closed boolean not null default false);
create table parcels (
  id bigint primary key,
  depot_id int not null references depots,
  recipient text not null,
  status text not null,
  grams int not null,
  created timestamptz not null
);
insert into depots select n, 'Depot ' || n from generate_series(1, 46) n;
-- forty depots in cities take all of today's parcels
insert into parcels
  select n, 1 + (n::bigint * 7919) % 40, 'Recipient ' || n, (array['sorted','loaded','delivered'])[1 + n % 3], 200 + n % 9000,
         timestamptz '2026-01-01' + n * interval '40 s'
  from generate_series(1, 400000) n;
-- six village depots, which were active in the first days only
insert into parcels
  select 1000000 + n, 41 + n % 6, 'Recipient v' || n, 'delivered', 300 + n,
         timestamptz '2026-01-01' + n * interval '9 min'
  from generate_series(1, 240) n;
create index parcels_created on parcels (created);
create index parcels_depot on parcels (depot_id);
alter table parcels owner to deliveries;
alter table depots owner to deliveries;
alter table parcels alter column depot_id set statistics 500;
vacuum (freeze, analyze) parcels;
vacuum (freeze, analyze) depots;
