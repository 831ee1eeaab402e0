#!/bin/sh
set -e
cache=$1; case=$2
mkdir -p "$cache"
[ -x "$cache/venv/bin/python" ] || python3 -m venv "$cache/venv"
"$cache/venv/bin/pip" install -q gevent==26.9.0 pymemcache==4.0.0
"$cache/venv/bin/python" "$case/seed.py" "$cache/profiles.db"
