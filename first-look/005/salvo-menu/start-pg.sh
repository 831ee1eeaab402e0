#!/bin/sh
# start-pg.sh PORT DIR TMP: serves a copy of DIR/pg
set -e
B=$(dirname "$(readlink -f "$(command -v postgres)")")
chmod 755 "$3"
cp -a "$2/pg" "$3/pg"
cd "$3/pg"
exec setpriv --reuid=postgres --regid=postgres --clear-groups "$B/postgres" -D "$3/pg/data" -k "$3/pg" -p "$1" -c listen_addresses=127.0.0.1 -c fsync=off -c max_parallel_workers_per_gather=0 -c jit=off -c shared_buffers=256MB
