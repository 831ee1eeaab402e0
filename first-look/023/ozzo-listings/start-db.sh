#!/bin/sh
# start-db.sh PORT TMP CACHE
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cp -a "$3/pgdata" "$2/pgdata"
exec "$here/as-user.sh" "$2/pgdata" /usr/lib/postgresql/15/bin/postgres -D "$2/pgdata" -p "$1" -c listen_addresses=127.0.0.1 \
    -c unix_socket_directories= -c shared_buffers=96MB -c fsync=off -c synchronous_commit=off -c log_lock_waits=on \
    -c deadlock_timeout=200ms -c max_parallel_workers_per_gather=0 -c jit=off -c autovacuum=off -c max_connections=120
