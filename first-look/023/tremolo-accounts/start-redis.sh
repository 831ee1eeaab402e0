#!/bin/sh
# start-redis.sh PORT TMP CACHE: Redis with the sessions that prepare.sh made
set -eu
cp "$3/sessions.rdb" "$2/sessions.rdb"
exec redis-server --port "$1" --bind 127.0.0.1 --dir "$2" --dbfilename sessions.rdb --save "" --appendonly no --daemonize no
