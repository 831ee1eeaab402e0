#!/bin/bash
# start-db.sh PORT CACHE [postgres options]: PostgreSQL on a fresh copy of the template.
# The data directory is on a RAM disk, as on the shop's staging machine, so that
# other work on the disk does not change the time of a commit.
port=$1; cache=$2; shift 2
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
as="setpriv --reuid=postgres --regid=postgres --clear-groups"
base=/dev/shm/graphene-orders-$(echo "$cache" | md5sum | cut -c1-8)
rm -rf "$cache/shared"; mkdir -p "$cache/shared"; echo "$port" >"$cache/shared/db.port"
rm -rf "$base"; mkdir -m 755 "$base"
tar -C "$base" --same-owner -xf "$cache/db.tar"
cd "$base"
exec $as "$bin/postgres" -D "$base/data" -p "$port" \
    -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=60 \
    -c shared_buffers=64MB -c checkpoint_timeout=30min -c max_wal_size=2GB -c autovacuum=off \
    -c jit=off "$@"
