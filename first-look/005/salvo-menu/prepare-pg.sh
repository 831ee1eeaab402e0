#!/bin/sh
# prepare-pg.sh DIR: a PostgreSQL data folder with the orders in it
set -e
D=$1/pg
B=$(dirname "$(readlink -f "$(command -v postgres)")")
rm -rf "$D"; mkdir -p "$D"; chown postgres "$D"
run() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
cd "$D"
run "$B/initdb" -D "$D/data" -U shop -A trust >/dev/null
run "$B/pg_ctl" -D "$D/data" -o "-k $D -c listen_addresses='' -c fsync=off" -w start >/dev/null
psql -q -v ON_ERROR_STOP=1 -h "$D" -U shop postgres -f "$(dirname "$(readlink -f "$0")")/shop.sql" >/dev/null
run "$B/pg_ctl" -D "$D/data" -m fast -w stop >/dev/null
