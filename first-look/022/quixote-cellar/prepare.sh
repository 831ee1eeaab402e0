#!/bin/sh
# prepare.sh CACHE CASE: virtual environment and a template of the database
set -eu
cache=$1
case_=$2
if [ ! -e "$cache/venv/.complete" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q --disable-pip-version-check \
        "Quixote==3.7" "psycopg[binary,pool]==3.2.3" "waitress==3.0.2"
    touch "$cache/venv/.complete"
fi
if [ ! -e "$cache/db.complete" ]; then
    rm -rf "$cache/db"
    python3 "$case_/db.py" template "$cache/db" "$case_/schema.sql"
    touch "$cache/db.complete"
fi
