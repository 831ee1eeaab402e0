#!/bin/sh
set -e
cache=$1 case=$2
mkdir -p "$cache/shared"
[ -e "$cache/venv/done" ] && exit 0
rm -rf "$cache/venv"
python3 -m venv "$cache/venv"
"$cache/venv/bin/pip" -q install -r "$case/requirements.txt"
touch "$cache/venv/done"
