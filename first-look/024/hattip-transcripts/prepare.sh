#!/bin/sh
# prepare.sh CACHE CASE: packages, and a PostgreSQL cluster with the transcripts
set -eu
cache=$1
case=$2
if [ ! -e "$cache/app/.complete" ]; then
    rm -rf "$cache/app"
    mkdir -p "$cache/app"
    cp "$case/package.json" "$cache/app/"
    (cd "$cache/app" && npm install --no-audit --no-fund --silent)
    touch "$cache/app/.complete"
fi
cp "$case/server.js" "$case/models.js" "$case/package.json" "$cache/app/"
if [ ! -e "$cache/db.complete" ]; then
    rm -rf "$cache/db"
    "$case/pg.sh" initdb "$cache/db" "$case/schema.sql"
    touch "$cache/db.complete"
fi
