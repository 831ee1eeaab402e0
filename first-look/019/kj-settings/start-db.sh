#!/bin/sh
# start-db.sh PORT CACHE CASE COMMIT_DELAY
set -eu
. "$3/pg.sh"
rm -rf "$2/shared"
mkdir -p "$2/shared"
dir=$(data_dir)
tar -C "$dir" -xf "$2/template.tar"
own "$dir"
echo "$1" > "$2/shared/db.new"
mv "$2/shared/db.new" "$2/shared/db.port"
cd /
exec python3 "$3/pgrun.py" "$dir" $as_pg "$pgbin/postgres" -D "$dir/data" -c port="$1" -c listen_addresses=127.0.0.1 \
    -c unix_socket_directories= -c max_connections=60 -c shared_buffers=64MB \
    -c max_wal_size=256MB -c autovacuum=off -c jit=off \
    -c commit_delay="$4" -c commit_siblings=5
