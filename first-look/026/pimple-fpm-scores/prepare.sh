#!/bin/sh
# prepare.sh CACHE CASE: maps and leaderboards as a Redis dump
# needs Debian's php8.2-fpm 8.2, php-pimple 3.5.0, php-predis 1.1.10, nginx 1.22, redis-server
set -eu
cache=$1
case=$2
test -e /usr/share/php/Pimple/autoload.php
test -e /usr/share/php/Predis/Autoloader.php
if [ ! -e "$cache/dump.complete" ]; then
    rm -rf "$cache/build" "$cache/dump.rdb"
    mkdir -p "$cache/build"
    python3 "$case/data.py" >"$cache/build/commands"
    redis-server --port 0 --unixsocket "$cache/build/redis.sock" --dir "$cache/build" --save "" --daemonize no >/dev/null &
    pid=$!
    trap 'kill $pid 2>/dev/null || true' EXIT
    until redis-cli -s "$cache/build/redis.sock" ping >/dev/null 2>&1; do sleep 0.1; done
    redis-cli -s "$cache/build/redis.sock" <"$cache/build/commands" >/dev/null
    redis-cli -s "$cache/build/redis.sock" save >/dev/null
    cp "$cache/build/dump.rdb" "$cache/dump.rdb"
    kill $pid
    wait $pid || true
    trap - EXIT
    rm -rf "$cache/build"
    touch "$cache/dump.complete"
fi
