#!/bin/sh
# pg-make.sh DIR SQL : a PostgreSQL data folder with the tables of SQL in DIR/data
set -e
B=/usr/lib/postgresql/15/bin
W=$(mktemp -d); chown postgres "$W"; cp "$2" "$W/t.sql"; chmod 644 "$W/t.sql"; cd "$W"
AS="setpriv --reuid=postgres --regid=postgres --clear-groups"
$AS $B/initdb -D "$W/data" -A trust -U shop --no-sync >/dev/null
$AS $B/postgres -D "$W/data" -c listen_addresses= -c unix_socket_directories="$W" -c fsync=off >/dev/null 2>&1 &
P=$!
until psql -h "$W" -U shop postgres -c 'select 1' >/dev/null 2>&1; do sleep 0.3; done
psql -q -h "$W" -U shop postgres -v ON_ERROR_STOP=1 -f "$W/t.sql"
kill -INT $P; wait $P || true
rm -rf "$1/data"; cp -a "$W/data" "$1/data"; rm -rf "$W"
