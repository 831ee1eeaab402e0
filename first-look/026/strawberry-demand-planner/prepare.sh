#!/bin/sh
# prepare.sh CACHE CASE: virtual environment and the gateway's SQLite database
set -eu
cache=$1
case=$2
if [ ! -e "$cache/venv/.complete" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q --disable-pip-version-check \
        "strawberry-graphql==0.262.5" "graphql-core==3.2.6" "starlette==0.46.2" "uvicorn==0.34.2" "httptools==0.6.4" \
        "SQLAlchemy==2.0.41" "aiosqlite==0.21.0" "greenlet==3.2.3"
    touch "$cache/venv/.complete"
fi
if [ ! -e "$cache/data.complete" ]; then
    rm -f "$cache/gateway.db"
    "$cache/venv/bin/python" "$case/data.py" "$cache/gateway.db"
    touch "$cache/data.complete"
fi
