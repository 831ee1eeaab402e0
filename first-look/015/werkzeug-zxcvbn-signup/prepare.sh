#!/bin/sh
set -e
cache=$1
mkdir -p "$cache"
[ -x "$cache/venv/bin/python" ] || python3 -m venv "$cache/venv"
"$cache/venv/bin/pip" install -q werkzeug==3.1.3 gunicorn==27.0.1 zxcvbn==4.5.0
