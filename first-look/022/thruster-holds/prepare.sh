#!/bin/sh
# prepare.sh CACHE CASE: the server, a Python with psycopg2 for the import, a template of the database
set -e
cache=$1
mkdir -p "$cache"
cargo build --release --locked --quiet --manifest-path "$2/Cargo.toml" --target-dir "$cache/target"
if [ ! -x "$cache/venv/bin/python" ]; then
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q psycopg2-binary==2.9.10
fi
[ -f "$cache/db.tar" ] && exit 0
pg=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
work=$(mktemp -d /tmp/holds-template-XXXXXX)
chown postgres: "$work"
as="setpriv --reuid=postgres --regid=postgres --clear-groups env HOME=$work"
cd "$work"
$as "$pg/initdb" -D "$work/data" -U cinema --auth=trust -E UTF8 --locale=C >/dev/null
$as "$pg/pg_ctl" -D "$work/data" -o "-k $work -c listen_addresses=''" -w -l "$work/log" start >/dev/null
$as "$pg/psql" -q -h "$work" -U cinema -d postgres -c 'CREATE DATABASE cinema'
$as "$pg/psql" -q -h "$work" -U cinema -d cinema <<'SQL'
CREATE TABLE shows (id int PRIMARY KEY, title text, hall int, starts text, free int);
INSERT INTO shows SELECT i, 'Film ' || i, 1 + i % 9, (14 + i % 9) || ':30', 40 + i % 120 FROM generate_series(1, 400) i;
CREATE TABLE holds (id bigserial PRIMARY KEY, show_id int, seat int, guest text, at timestamptz DEFAULT now());
CREATE TABLE partner_sales (id bigserial PRIMARY KEY, partner text, show_id int, seat int, cents int);
SQL
$as "$pg/pg_ctl" -D "$work/data" -w -m fast stop >/dev/null
tar -C "$work" -cf "$cache/db.tar.new" data
mv "$cache/db.tar.new" "$cache/db.tar"
rm -rf "$work"
