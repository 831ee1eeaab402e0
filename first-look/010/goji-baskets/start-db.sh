#!/bin/sh
# PostgreSQL with its own data folder: start-db.sh PORT TMP
set -e
B=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
D=$2/pg
mkdir -p "$D"; chown postgres "$D"; chmod 755 "$2" || true
run() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
cd /
run "$B/initdb" -D "$D/data" -A trust -U postgres --no-sync >/dev/null
exec setpriv --reuid=postgres --regid=postgres --clear-groups "$B/postgres" -D "$D/data" -p "$1" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$D" -c fsync=off -c max_connections=80
