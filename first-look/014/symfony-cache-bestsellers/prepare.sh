#!/bin/sh
# usage: prepare.sh CACHE
set -e
cache=$1
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
work=$(mktemp -d /tmp/shoppg.XXXXXX)
run=""
cd /
if [ "$(id -u)" = 0 ]; then
  chown postgres "$work"
  run="setpriv --reuid=postgres --regid=postgres --clear-groups"
fi
$run "$bin/initdb" -D "$work/data" -U app -A trust -E UTF8 --no-sync --locale=C >/dev/null
$run "$bin/postgres" --single -D "$work/data" postgres >/dev/null 2>&1 <<'SQL'
create database shop
SQL
$run "$bin/postgres" --single -j -D "$work/data" shop >/dev/null 2>&1 <<'SQL'
create table articles (id int primary key, title text, genre text, cents int);

create table lines (id serial primary key, article int, pieces int, day date);

insert into articles select i, 'Article ' || i, (array['books','music'])[1 + i % 2], 500 + (i * 37) % 9000 from generate_series(1, 3000) i;

insert into lines (article, pieces, day) select 1 + (i::bigint * 7919) % 3000, 1 + i % 4, date '2026-01-01' + i % 90 from generate_series(1, 66000) i;

create index lines_day on lines (day);

vacuum analyze;

SQL
rm -rf "$cache/db"
cp -a "$work/data" "$cache/db"
rm -rf "$work"
