#!/bin/sh
# $1 = port, $2 = scratch, $3 = template
cp -r "$3" "$2/data"
chown -R postgres "$2"
chmod 700 "$2/data"
cd /
exec setpriv --reuid=postgres --regid=postgres --clear-groups /usr/lib/postgresql/15/bin/postgres -D "$2/data" -p "$1" \
  -c listen_addresses=127.0.0.1 -k "$2" -c synchronous_commit=off -c shared_buffers=128MB -c max_connections=60 -c autovacuum=off -c jit=off \
  -c max_parallel_workers_per_gather=0
