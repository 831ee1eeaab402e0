#!/bin/sh
# prepare.sh CACHE CASE: medley and pg from npm, a database of donations, and its certificate
set -eu
cache=$1
case=$2
bin=/usr/lib/postgresql/15/bin
mkdir -p "$cache"
if [ ! -e "$cache/npm.complete" ]; then
    cp "$case/package.json" "$case/package-lock.json" "$cache/"
    (cd "$cache" && npm ci --no-audit --no-fund --ignore-scripts)
    touch "$cache/npm.complete"
fi
cp "$case/server.js" "$cache/"
# PostgreSQL does not run as root: a user namespace gives the caller another name
as="unshare --user --map-user=101 --map-group=104"
if [ ! -e "$cache/db.complete" ]; then
    rm -rf "$cache/db"
    mkdir -m 700 "$cache/db"
    echo donations >"$cache/password"
    $as $bin/initdb -D "$cache/db" -U donations --pwfile="$cache/password" -A scram-sha-256 --no-sync >"$cache/initdb.log"
    openssl req -x509 -newkey rsa:4096 -nodes -days 3650 -subj /CN=db -keyout "$cache/db/server.key" -out "$cache/db/server.crt" 2>/dev/null
    chmod 600 "$cache/db/server.key"
    $as $bin/postgres --single -D "$cache/db" -j postgres <"$case/schema.sql" >"$cache/schema.log" 2>&1
    touch "$cache/db.complete"
fi
