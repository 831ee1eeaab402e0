#!/bin/sh
# $1 = port, $2 = directory, $3 = template
set -e
cp -a "$3" "$2/data"
chown -R postgres:postgres "$2"
cd "$2"
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
exec setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/postgres" -D "$2/data" \
  -c listen_addresses=127.0.0.1 -c port="$1" -c unix_socket_directories="$2" \
  -c fsync=off -c synchronous_commit=off -c shared_buffers=64MB -c work_mem=16MB -c jit=off \
  -c max_parallel_workers_per_gather=0 -c max_connections=60 -c autovacuum_naptime=60
