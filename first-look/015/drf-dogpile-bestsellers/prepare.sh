#!/bin/sh
set -e
cache=$1; case=$2
mkdir -p "$cache"
[ -x "$cache/venv/bin/python" ] || python3 -m venv "$cache/venv"
"$cache/venv/bin/pip" install -q django==5.2.19 djangorestframework==3.18.3 gunicorn==27.0.1 dogpile.cache==1.5.0
"$cache/venv/bin/python" "$case/seed.py" "$cache/shop.db"
