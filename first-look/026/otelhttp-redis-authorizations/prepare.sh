#!/bin/sh
# prepare.sh CACHE CASE: the service (Go modules as in go.sum), and the cards as a Redis dump
set -eu
cache=$1
case=$2
export GOCACHE="$cache/go-build" GOMODCACHE="$cache/go-mod" GOFLAGS="-mod=readonly -modcacherw" GOTOOLCHAIN=local
(cd "$case" && nice -n 10 go build -trimpath -o "$cache/fraud" .)
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
