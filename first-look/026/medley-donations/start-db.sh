#!/bin/sh
# start-db.sh PORT TMP TEMPLATE
set -eu
cp -a "$3" "$2/db"
exec unshare --user --map-user=101 --map-group=104 /usr/lib/postgresql/15/bin/postgres -D "$2/db" -p "$1" \
    -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c ssl=on -c fsync=off -c shared_buffers=64MB -c jit=off \
    -c max_connections=60 -c shared_memory_type=mmap -c dynamic_shared_memory_type=mmap
