#!/bin/sh
# start-db.sh PORT TMP CACHE: a copy of the filled cluster, served in the foreground
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
d=$2/pgdata; mkdir -p "$d"; chown postgres "$2" "$d"
setpriv --reuid=postgres --regid=postgres --clear-groups test -x "$d" || { d=$(mktemp -d /tmp/shopdb.XXXXXX); chown postgres "$d"; }
cp -r "$3/pg" "$d/pg"; chown -R postgres:postgres "$d"; chmod 700 "$d/pg"; cd "$d"
exec setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/postgres" -D "$d/pg" -p "$1" -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c jit=off -c synchronous_commit=off
