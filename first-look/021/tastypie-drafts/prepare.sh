#!/bin/sh
set -e
cache=$1 case=$2
command -v memcached >/dev/null || apt-get install -y --no-install-recommends memcached
[ -e "$cache/venv/done" ] && exit 0
rm -rf "$cache/venv"
python3 -m venv "$cache/venv"
"$cache/venv/bin/pip" -q install -r "$case/requirements.txt"
touch "$cache/venv/done"
