#!/bin/sh
# start-db.sh PORT TMP: PostgreSQL with the tables of schema.sql beside this script
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
here=$(cd "$(dirname "$0")" && pwd)
d="$2/pg"; mkdir -p "$d"; chown postgres: "$d"; chmod 700 "$d"
p="setpriv --reuid=postgres --regid=postgres --init-groups"
cd /
$p $bin/initdb --no-sync -A trust -U web -D "$d/data" >/dev/null
cat >>"$d/data/postgresql.conf" <<C
fsync = off
synchronous_commit = off
full_page_writes = off
autovacuum = off
unix_socket_directories = '$d'
max_connections = 40
shared_buffers = 64MB
C
$p $bin/pg_ctl -w -s -D "$d/data" -o "-c listen_addresses=" start >/dev/null
$p $bin/psql -q -h "$d" -U web postgres <"$here/schema.sql" >/dev/null
$p $bin/pg_ctl -w -s -m fast -D "$d/data" stop
exec $p $bin/postgres -D "$d/data" -c listen_addresses=127.0.0.1 -p "$1"
