#!/bin/sh
# prepare.sh CACHE CASE: virtual environment, and a PostgreSQL cluster with the league
set -eu
cache=$1
case=$2
if [ ! -e "$cache/venv/.complete" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q --disable-pip-version-check \
        "kui==1.15.0" "asyncpg==0.27.0" "uvicorn==0.32.1" "typing_extensions==4.12.2"
    touch "$cache/venv/.complete"
fi
if [ ! -e "$cache/db.complete" ]; then
    rm -rf "$cache/db"
    "$case/pg.sh" initdb "$cache/db" "$case/schema.sql"
    touch "$cache/db.complete"
fi
