#!/bin/sh
# prepare.sh CACHE CASE: Deno 2.8.0 and 2.7.14, postgres.js, a PostgreSQL cluster with the seats
set -eu
cache=$1
case=$2
for version in 2.8.0 2.7.14; do
    if [ ! -e "$cache/deno-$version/.complete" ]; then
        rm -rf "$cache/deno-$version"
        mkdir -p "$cache/deno-$version"
        (cd "$cache/deno-$version" && npm init -y >/dev/null && npm install --no-audit --no-fund --loglevel=error --ignore-scripts "deno@$version")
        find "$cache/deno-$version/node_modules/@deno" -type f -name deno -exec cp {} "$cache/deno-$version/deno" \;
        chmod +x "$cache/deno-$version/deno"
        rm -rf "$cache/deno-$version/node_modules"
        touch "$cache/deno-$version/.complete"
    fi
done
mkdir -p "$cache/app"
cp "$case/app.ts" "$case/deno.json" "$case/package.json" "$case/package-lock.json" "$cache/app/"
(cd "$cache/app" && npm ci --no-audit --no-fund --loglevel=error)
if [ ! -e "$cache/db.complete" ]; then
    rm -rf "$cache/db"
    mkdir -p "$cache/db"
    pg=/usr/lib/postgresql/15/bin
    ( . "$case/pg.sh"; cd /; as_pg "$cache/db" "$pg/initdb" -D "$cache/db" -U tickets -A trust -E UTF8 --locale=C >"$cache/initdb.log" )
    echo "create database tickets;" | ( . "$case/pg.sh"; cd /; as_pg "$cache/db" "$pg/postgres" --single -D "$cache/db" postgres >/dev/null )
    tr '\n' ' ' <"$case/schema.sql" | sed 's/; */;\n/g' | ( . "$case/pg.sh"; cd /; as_pg "$cache/db" "$pg/postgres" --single -D "$cache/db" tickets >"$cache/schema.log" 2>&1 )
    touch "$cache/db.complete"
fi
