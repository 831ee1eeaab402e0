#!/bin/sh
# start-db.sh PORT TMP: a PostgreSQL of its own with the parts list
set -e
port=$1; d=$2/db; b=/usr/lib/postgresql/15/bin
pg() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
mkdir -p "$d"; chown postgres "$d"
pg test -x "$2" || { d=$(mktemp -d /tmp/parts-db.XXXXXX); chown postgres "$d"; }
cd "$d"
pg $b/initdb -D "$d/data" -A trust -N >/dev/null
pg $b/pg_ctl -s -w -D "$d/data" -o "-c listen_addresses= -k $d -p $port -F" -l "$d/log" start >/dev/null
pg psql -q -h "$d" -p "$port" postgres -c 'CREATE DATABASE parts'
pg psql -q -h "$d" -p "$port" parts <<'SQL'
CREATE TABLE part (id int PRIMARY KEY, name text, stock int);
INSERT INTO part SELECT i, 'part ' || i, i % 50 FROM generate_series(1, 3000) i;
-- the supplier's view of our stock: a remote system behind a function
CREATE FUNCTION supplier_stock(week int) RETURNS TABLE (id int, name text, stock int) LANGUAGE sql AS
  $f$ SELECT p.id, p.name, p.stock FROM part p, pg_sleep(0.18) WHERE p.id % 52 = week $f$;
VACUUM ANALYZE;
SQL
pg $b/pg_ctl -s -w -D "$d/data" stop >/dev/null
exec setpriv --reuid=postgres --regid=postgres --clear-groups $b/postgres -D "$d/data" -k "$d" -p "$port" \
  -c listen_addresses=127.0.0.1 -c max_parallel_workers_per_gather=0 -c jit=off -c fsync=off
