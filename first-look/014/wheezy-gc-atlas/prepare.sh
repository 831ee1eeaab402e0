#!/bin/sh
# usage: prepare.sh CACHE CASE
set -e
[ -x "$1/venv/bin/python" ] || python3 -m venv "$1/venv"
"$1/venv/bin/pip" install -q --disable-pip-version-check -r "$2/requirements.txt"
