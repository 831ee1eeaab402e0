#!/bin/sh
# start-db.sh PORT TMP TEMPLATE
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
dir=$2 as=
if [ "$(id -u)" = 0 ]; then
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
    chown postgres "$dir"
    # a folder that the user postgres cannot reach
    $as test -x "$dir" || { dir=$(mktemp -d /tmp/carparks-XXXXXX); chown postgres "$dir"; }
fi
cp -r "$3" "$dir/data"
[ -z "$as" ] || chown -R postgres "$dir/data"
chmod 700 "$dir/data"
cd "$dir"
exec $as "$bin/postgres" -D "$dir/data" -p "$1" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
    -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c autovacuum=off -c jit=off \
    -c max_parallel_workers_per_gather=0 -c shared_buffers=64MB -c work_mem=32MB -c max_connections=60
