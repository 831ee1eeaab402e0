#!/bin/sh
# prepare.sh CACHE CASE: the shop's data as a Redis dump
# needs Debian's libcorona-perl 0.1004, libcoro-perl 6.570, libanyevent-redis-perl 0.24, libanyevent-http-perl 2.25,
# librouter-simple-perl, libjson-xs-perl, redis-server
set -eu
cache=$1
case=$2
perl -MCorona -MCoro -MAnyEvent::Redis -MAnyEvent::HTTP -MRouter::Simple -MJSON::XS -e 1
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
