create table settings (
    shop int not null,
    item int not null,
    revision int not null default 1,
    changed timestamptz not null default now(),
    data text not null,
    primary key (shop, item)
);
insert into settings (shop, item, data)
    select shop, item, 'opening hours of shop ' || shop || ', ' || repeat('n', 80)
    from generate_series(1, 40) shop, generate_series(1, 40) item;
create table clicks (
    id bigserial primary key,
    feed int not null,
    at timestamptz not null default now(),
    page text not null
);
