#!/bin/sh
# prepare.sh CACHE CASE: Sequelize and pg, a PostgreSQL cluster with blocks
set -eu
cache=$1
case=$2
mkdir -p "$cache/app"
cp "$case/server.mjs" "$case/package.json" "$case/package-lock.json" "$cache/app/"
(cd "$cache/app" && npm ci --no-audit --no-fund --loglevel=error)
if [ ! -e "$cache/db.complete" ]; then
    rm -rf "$cache/db"
    mkdir -p "$cache/db"
    pg=/usr/lib/postgresql/15/bin
    single() {
        ( . "$case/pg.sh"; cd /; as_pg "$cache/db" "$pg/postgres" --single -D "$cache/db" "$1" >>"$cache/schema.log" 2>&1 )
    }
    ( . "$case/pg.sh"; cd /; as_pg "$cache/db" "$pg/initdb" -D "$cache/db" -U postgres -A trust -E UTF8 --locale=C >"$cache/initdb.log" )
    printf '%s\n' "create role explorer login password 'explorer-secret';" "create database explorer owner explorer;" | single postgres
    tr '\n' ' ' <"$case/schema.sql" | sed 's/; */;\n/g' | single explorer
    touch "$cache/db.complete"
fi
