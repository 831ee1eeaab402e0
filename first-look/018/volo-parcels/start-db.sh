#!/bin/sh
# start-db.sh PORT TMP CACHE COMMIT_DELAY: PostgreSQL on a copy of the template
set -e
port=$1; tmp=$2; template=$3/db; shared=$3/shared; delay=$4
rm -rf "$shared"; mkdir -p "$shared"
echo "$port" >"$shared/db.port"
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
dir=$tmp/pg
mkdir -p "$dir"
as=""
if [ "$(id -u)" = 0 ]; then
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
    chown postgres "$dir"
    # the user postgres may not be allowed to go through the folders above
    if ! $as test -w "$dir"; then dir=$(mktemp -d /tmp/parcels-db.XXXXXX); chown postgres "$dir"; fi
fi
cp -r "$template/data" "$dir/data"
if [ -n "$as" ]; then chown -R postgres "$dir/data"; fi
chmod 700 "$dir/data"
cd "$dir"
exec $as "$bin/postgres" -D "$dir/data" -c listen_addresses=127.0.0.1 -c port="$port" \
    -c unix_socket_directories= -c max_connections=60 -c shared_buffers=32MB \
    -c commit_delay="$delay" -c commit_siblings=2 \
    -c autovacuum=off -c checkpoint_timeout=30min -c jit=off
