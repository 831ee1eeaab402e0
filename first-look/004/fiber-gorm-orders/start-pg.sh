#!/bin/sh
# start-pg.sh PORT FOLDER: a fresh PostgreSQL in FOLDER, in the foreground
set -e
BIN=/usr/lib/postgresql/15/bin
mkdir -p "$2/pg"
chown postgres "$2/pg"
setpriv --reuid=postgres --regid=postgres --clear-groups $BIN/initdb -D "$2/pg" -A trust -U app --no-sync -E UTF8 --locale=C >/dev/null
exec setpriv --reuid=postgres --regid=postgres --clear-groups $BIN/postgres -D "$2/pg" -p "$1" \
  -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c autovacuum=off
