#!/bin/sh
# mkdb.sh CACHE: makes the database that start.sh copies
set -e
B=/usr/lib/postgresql/15/bin
rm -rf "$1/pg"; mkdir -p "$1/pg"; W=$(mktemp -d /tmp/mkdb.XXXXXX); chown postgres "$W"
P="setpriv --reuid=postgres --regid=postgres --init-groups"
cd "$W"
$P $B/initdb -D "$W/d" -A trust -N >/dev/null
$P $B/pg_ctl -D "$W/d" -w -o "-k $W -h ''" -l "$W/log" start >/dev/null
$P $B/psql -q -h "$W" -d postgres -v ON_ERROR_STOP=1 <<'SQL'
CREATE TABLE orders AS SELECT i AS id, i % 900 AS total, ''::text AS receipt FROM generate_series(1, 20000) i;
ALTER TABLE orders ADD PRIMARY KEY (id);
VACUUM ANALYZE;
SQL
$P $B/pg_ctl -D "$W/d" -w -m fast stop >/dev/null
cp -a "$W/d" "$1/pg/d"; rm -rf "$W"
