#!/bin/bash
# start-redis.sh PORT DIR
exec redis-server --bind 127.0.0.1 --port "$1" --dir "$2" --save "" --appendonly no --daemonize no
