create table events (id serial primary key, title text not null, town text not null, seats_left int not null) with (fillfactor = 50);
create table bookings (id serial primary key, event_id int not null, receipt text, at timestamptz not null default now());
insert into events (title, town, seats_left) select 'Concert ' || g, 'Town ' || g % 17, 1000000 from generate_series(1, 300) g;
analyze;
