#!/bin/sh
# usage: start-redis.sh PORT CASE    redis with the shops and articles
( for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    python3 "$2/seed.py" "$1" 2>/dev/null && break
    sleep 0.2
  done ) &
exec redis-server --port "$1" --bind 127.0.0.1 --save "" --appendonly no
