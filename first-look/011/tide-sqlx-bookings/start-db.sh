#!/bin/sh
# $1 port, $2 scratch folder, $3 folder of the case: an empty PostgreSQL, filled, then started
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
as="setpriv --reuid=postgres --regid=postgres --clear-groups --inh-caps=+dac_override --ambient-caps=+dac_override"
mkdir "$2/pg"
chown postgres "$2/pg"
$as "$bin/initdb" -D "$2/pg" -A trust -U postgres --no-sync >/dev/null
$as "$bin/postgres" --single -j -D "$2/pg" postgres < "$3/init.sql" >/dev/null
exec $as "$bin/postgres" -D "$2/pg" -p "$1" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c shared_buffers=32MB \
  -c max_connections=60 -c fsync=off -c autovacuum=off -c jit=off
