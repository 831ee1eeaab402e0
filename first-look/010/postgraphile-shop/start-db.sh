#!/bin/bash
# start-db.sh PORT TMP
set -e
port=$1; d=$2/pg
B=/usr/lib/postgresql/15/bin
mkdir -p "$d"; chmod 755 "$2"; chown postgres: "$d"
as() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }
cd "$d"
as $B/initdb -D "$d/data" -U postgres -A trust --no-sync --locale=C -E UTF8 >/dev/null
cat >> "$d/data/postgresql.conf" <<C
unix_socket_directories = ''
listen_addresses = '127.0.0.1'
port = $port
shared_buffers = 128MB
fsync = off
autovacuum = off
max_parallel_workers_per_gather = 0
jit = off
C
as $B/postgres --single -j -D "$d/data" postgres < "$(dirname "$(readlink -f "$0")")/shop.sql" >/dev/null
exec setpriv --reuid=postgres --regid=postgres --init-groups $B/postgres -D "$d/data"
