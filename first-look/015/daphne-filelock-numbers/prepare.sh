#!/bin/sh
set -e
cache=$1
mkdir -p "$cache"
[ -x "$cache/venv/bin/python" ] || python3 -m venv "$cache/venv"
"$cache/venv/bin/pip" install -q daphne==4.2.3 starlette==1.10.0 filelock==4.3.1
