#!/bin/sh
# start-db.sh PORT TMP: a PostgreSQL of its own with the booking data
set -e
port=$1; d=$2/db; b=/usr/lib/postgresql/15/bin
pg() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
mkdir -p "$d"; chown postgres "$d"
pg test -x "$2" || { d=$(mktemp -d /tmp/rooms-db.XXXXXX); chown postgres "$d"; }
cd "$d"
pg $b/initdb -D "$d/data" -A trust -N >/dev/null
pg $b/pg_ctl -s -w -D "$d/data" -o "-c listen_addresses= -k $d -p $port -F" -l "$d/log" start >/dev/null
pg psql -q -h "$d" -p "$port" postgres -c 'CREATE DATABASE rooms'
pg psql -q -h "$d" -p "$port" rooms <<'SQL'
CREATE TABLE room (id int PRIMARY KEY, name text, seats int);
INSERT INTO room SELECT i, 'room ' || i, 4 + i % 30 FROM generate_series(1, 400) i;
CREATE TABLE booking (id int, room_id int, week int, during int4range);
INSERT INTO booking SELECT i, 1 + (i::bigint * 7919 % 400), i % 52, int4range(i % 9, i % 9 + 1 + i % 3) FROM generate_series(1, 220000) i;
VACUUM ANALYZE;
SQL
pg $b/pg_ctl -s -w -D "$d/data" stop >/dev/null
exec setpriv --reuid=postgres --regid=postgres --clear-groups $b/postgres -D "$d/data" -k "$d" -p "$port" \
  -c listen_addresses=127.0.0.1 -c max_parallel_workers_per_gather=0 -c jit=off -c fsync=off
