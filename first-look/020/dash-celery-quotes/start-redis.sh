#!/bin/bash
# start-redis.sh PORT TMP SHARED
port=$1; tmp=$2; shared=$3
rm -rf "$shared"; mkdir -p "$shared"; echo "$port" >"$shared/redis.port"
exec redis-server --port "$port" --bind 127.0.0.1 --save "" --appendonly no --dir "$tmp" --loglevel warning
