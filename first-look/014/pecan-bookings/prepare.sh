#!/bin/sh
# usage: prepare.sh CACHE CASE
set -e
cache=$1; case=$2
[ -x "$cache/venv/bin/python" ] || python3 -m venv "$cache/venv"
"$cache/venv/bin/pip" install -q --disable-pip-version-check -r "$case/requirements.txt"
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
work=$(mktemp -d /tmp/pecanpg.XXXXXX)
[ "$(id -u)" = 0 ] && chown postgres "$work" || true
cd /
run=""; [ "$(id -u)" = 0 ] && run="setpriv --reuid=postgres --regid=postgres --clear-groups" || true
$run "$bin/initdb" -D "$work/data" -U app -A trust -E UTF8 --no-sync --locale=C >/dev/null
$run "$bin/postgres" --single -D "$work/data" postgres >/dev/null <<'SQL'
create database bookings
SQL
$run "$bin/postgres" --single -j -D "$work/data" bookings >/dev/null <<'SQL'
create table courts (id int primary key, name text, free int);

insert into courts select i, 'Court ' || i, 100000 from generate_series(1, 200) i;

create table bookings (id bigserial primary key, court int references courts(id), player text, voucher text, at timestamptz default now());

insert into bookings (court, player, voucher) select 1 + i % 200, 'player ' || i, 'v' || i from generate_series(1, 4000) i;

create index bookings_court on bookings (court);

analyze;

SQL
rm -rf "$cache/db"
cp -a "$work/data" "$cache/db"
rm -rf "$work"
