#!/bin/sh
# prepare.sh CACHE CASE: virtual environment and the candidates' database
set -eu
cache=$1
case=$2
if [ ! -e "$cache/.complete" ]; then
    rm -rf "$cache/venv" "$cache/talent.db"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q --disable-pip-version-check \
        "flup==1.0.3" "strawberry-graphql==0.235.0" "graphql-core==3.2.3" "Flask==3.0.3" "Werkzeug==3.0.6"
    python3 "$case/make_db.py" "$cache/talent.db"
    touch "$cache/.complete"
fi
