#!/bin/sh
# start-db.sh PORT TMP: a fresh PostgreSQL; it does not run as root
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
dir=$2/pg
mkdir -p "$dir"
as=
if [ "$(id -u)" = 0 ]; then
  as="setpriv --reuid=postgres --regid=postgres --clear-groups"
  chmod o+x "$2"
  chown postgres "$dir"
  if ! $as test -w "$dir"; then
    dir=$(mktemp -d /tmp/pg-XXXXXX)
    chown postgres "$dir"
  fi
fi
cd "$dir"
[ -f "$dir/data/PG_VERSION" ] || $as "$bin/initdb" -D "$dir/data" -U postgres -A trust --no-sync -E UTF8 --locale=C >/dev/null
exec $as "$bin/postgres" -D "$dir/data" -p "$1" -h 127.0.0.1 -c unix_socket_directories="" -c fsync=off -c synchronous_commit=off -c autovacuum=off -c jit=off -c max_parallel_workers_per_gather=0
