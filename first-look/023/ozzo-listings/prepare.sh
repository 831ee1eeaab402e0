#!/bin/sh
# prepare.sh CACHE CASE: the program, and a PostgreSQL data directory with 120000 listings
set -eu
cache=$1 case=$2
[ -x /usr/lib/postgresql/15/bin/postgres ] || { echo "apt-get install postgresql-15" >&2; exit 1; }
if [ ! -e "$cache/listings" ] || [ "$case/main.go" -nt "$cache/listings" ]; then
    rm -rf "$cache/src" && mkdir -p "$cache/src"
    cp "$case/main.go" "$case/go.mod" "$case/go.sum" "$cache/src/"
    (cd "$cache/src" && GOMODCACHE="$cache/gomod" GOCACHE="$cache/gocache" GOFLAGS="-modcacherw" nice -n 10 go build -o "$cache/listings" .)
fi
if [ ! -e "$cache/pg.complete" ]; then
    rm -rf "$cache/pgdata"
    mkdir "$cache/pgdata"
    bin=/usr/lib/postgresql/15/bin
    user="$case/as-user.sh $cache/pgdata"
    $user $bin/initdb -D "$cache/pgdata" -U listings -A trust -E UTF8 --locale=C.UTF-8 --wal-segsize=4 -N >"$cache/initdb.log" 2>&1
    echo "CREATE DATABASE listings;" | $user $bin/postgres --single -D "$cache/pgdata" postgres >>"$cache/initdb.log" 2>&1
    $user $bin/postgres --single -j -D "$cache/pgdata" listings <"$case/schema.sql" >>"$cache/initdb.log" 2>&1
    touch "$cache/pg.complete"
fi
