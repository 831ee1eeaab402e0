#!/bin/sh
set -e
cache=$1 case=$2
if [ ! -f "$cache/venv/done" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q 'hug==2.6.1' 'falcon==2.0.0' 'gunicorn==23.0.0'
    touch "$cache/venv/done"
fi
[ -s "$cache/streets.json.gz" ] || python3 "$case/make-streets.py" "$cache/streets.json.gz"
