#!/bin/sh
# start-db.sh PORT TMP DB: PostgreSQL on a fresh copy of the database DB
set -e
pg=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
dir=$(mktemp -d /tmp/cinema-db.XXXXXX)
cp -r "$3/." "$dir"
chmod 700 "$dir"
set -- "$pg/postgres" -D "$dir" -c port="$1" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
  -c fsync=off -c synchronous_commit=off -c max_connections=40 -c shared_buffers=64MB -c checkpoint_timeout=30min -c autovacuum=off
cd "$dir"
if [ "$(id -u)" = 0 ]; then
  chown -R postgres "$dir"
  exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
fi
exec "$@"
