#!/bin/sh
# start-redis.sh PORT TMP CACHE
cp "$3/dump.rdb" "$2/dump.rdb"
exec redis-server --port "$1" --bind 127.0.0.1 --dir "$2" --save "" --appendonly no --loglevel warning
