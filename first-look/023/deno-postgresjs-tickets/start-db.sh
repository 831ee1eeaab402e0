#!/bin/sh
# start-db.sh PORT TMP TEMPLATE: PostgreSQL on a copy of the prepared cluster
set -eu
. "$(dirname "$0")/pg.sh"
cp -a "$3" "$2/data"
cd "$2"
as_pg "$2/data" /usr/lib/postgresql/15/bin/postgres -D "$2/data" -p "$1" -c listen_addresses=127.0.0.1 \
    -c unix_socket_directories= -c shared_buffers=64MB -c synchronous_commit=off -c fsync=off
