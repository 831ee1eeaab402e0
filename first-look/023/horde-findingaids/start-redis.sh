#!/bin/sh
# start-redis.sh PORT TMP CACHE: the Redis that the sites of the library share
set -eu
cp "$3/shared.rdb" "$2/shared.rdb"
exec redis-server --port "$1" --bind 127.0.0.1 --dir "$2" --dbfilename shared.rdb --save "" --appendonly no --daemonize no
