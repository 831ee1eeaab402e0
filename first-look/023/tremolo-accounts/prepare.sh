#!/bin/sh
# prepare.sh CACHE CASE: virtual environment, and a Redis dump with 400 sessions
set -eu
cache=$1
if [ ! -e "$cache/venv/.complete" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q --disable-pip-version-check \
        "tremolo==0.5.3" "redis==5.2.1" "aiohttp==3.14.5"
    touch "$cache/venv/.complete"
fi
if [ ! -e "$cache/sessions.rdb" ]; then
    rm -rf "$cache/redis" && mkdir -p "$cache/redis"
    sock="$cache/redis/redis.sock"
    redis-server --port 0 --unixsocket "$sock" --dir "$cache/redis" --save "" --appendonly no \
        --dbfilename sessions.rdb --daemonize yes --pidfile "$cache/redis/redis.pid" --logfile "$cache/redis/redis.log" >/dev/null
    for i in 1 2 3 4 5 6 7 8 9 10; do redis-cli -s "$sock" ping >/dev/null 2>&1 && break; sleep 0.2; done
    i=100
    while [ $i -lt 500 ]; do echo "SET session:s$i customer-$i"; i=$((i + 1)); done | redis-cli -s "$sock" >/dev/null
    redis-cli -s "$sock" save >/dev/null
    redis-cli -s "$sock" shutdown nosave || true
    mv "$cache/redis/sessions.rdb" "$cache/sessions.rdb"
fi
