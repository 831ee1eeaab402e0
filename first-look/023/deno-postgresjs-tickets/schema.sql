create table events (id int primary key, title text not null, hall text not null, starts_at timestamptz not null);
insert into events select i, 'Concert ' || i, 'Hall ' || i % 4, timestamptz '2027-01-01 20:00+00' + i * interval '1 day' from generate_series(1, 40) i;
create table seats (event_id int not null, number int not null, zone text not null, price int not null, buyer int, holds int not null default 0, primary key (event_id, number));
insert into seats select e, n, chr(65 + n / 100), 2500 + (n / 100) * 700, case when n % 3 = 0 then n end from generate_series(1, 40) e, generate_series(1, 600) n;
analyze;
