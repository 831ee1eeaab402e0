#!/bin/sh
# postgres.sh PORT TMP
here=$(dirname "$(readlink -f "$0")")
port=$1 data=$2/pg
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
chmod 755 "$2"; mkdir -p "$data"; chown postgres: "$data"
cd /
as="setpriv --reuid=postgres --regid=postgres --clear-groups"
$as $bin/initdb -D "$data" -U postgres -A trust -E UTF8 --no-locale --no-sync >/dev/null
$as $bin/postgres --single -D "$data" postgres < "$here/schema.sql" >/dev/null
$as $bin/postgres --single -D "$data" shop < "$here/shop.sql" >/dev/null
exec $as $bin/postgres -D "$data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
  -c shared_buffers=64MB -c max_connections=60 -c synchronous_commit=off
