create role air login;
create database air owner air;
\c air
set role air;
create table station (id int primary key, name text not null, street text not null, height int not null);
insert into station select i, 'Station ' || i, 'Ring ' || i * 3, 80 + i % 40 from generate_series(1, 60) i;
create table measurement (id bigint generated always as identity primary key, station int not null, at timestamptz not null, pm10 real not null, no2 real not null);
insert into measurement (station, at, pm10, no2)
  select 1 + i % 60, timestamptz '2026-03-01' + (i / 60) * interval '55 seconds', 10 + (i::bigint * 7919 % 311) / 10.0, 8 + (i::bigint * 104729 % 433) / 9.0
  from generate_series(1, 65000) i;
create materialized view station_hour as
  select station, date_trunc('hour', at) as hour, avg(pm10)::numeric(6,1) as pm10, avg(no2)::numeric(6,1) as no2,
         percentile_cont(0.98) within group (order by no2)::numeric(6,1) as peak
  from measurement group by station, date_trunc('hour', at);
create unique index on station_hour (station, hour);
reset role;
vacuum analyze;
