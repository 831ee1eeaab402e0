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
CREATE TABLE products AS SELECT 'sku-' || i AS sku, 'product number ' || i AS title, i % 700 AS price FROM generate_series(1, 20000) i;
CREATE TABLE cart_lines AS SELECT c AS cart, 'sku-' || (1 + (c * 7919 + n * 104729) % 20000) AS sku, 1 + n % 3 AS qty
  FROM generate_series(0, 399) c, generate_series(1, 40) n WHERE n <= CASE WHEN c % 4 = 0 THEN 40 ELSE 2 END;
CREATE INDEX ON cart_lines (cart);
VACUUM ANALYZE;
SQL
$P $B/pg_ctl -D "$W/d" -w -m fast stop >/dev/null
cp -a "$W/d" "$1/pg/d"; rm -rf "$W"
