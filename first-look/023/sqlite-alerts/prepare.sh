#!/bin/sh
# prepare.sh CACHE CASE: the service with go-sqlite3 1.14.44 (SQLite 3.53) and with 1.14.32 (SQLite 3.50)
set -eu
cache=$1
case=$2
if [ ! -e "$cache/.complete" ]; then
    mkdir -p "$cache/source"
    cp "$case"/*.go "$case"/*.mod "$case"/*.sum "$cache/source/"
    cd "$cache/source"
    CGO_ENABLED=1 go build -o "$cache/alerts-1.14.44" .
    CGO_ENABLED=1 go build -modfile go-1.14.32.mod -o "$cache/alerts-1.14.32" .
    touch "$cache/.complete"
fi
