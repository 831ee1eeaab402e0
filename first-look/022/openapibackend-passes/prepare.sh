#!/bin/sh
# prepare.sh CACHE CASE
set -e
cache=$1; case=$2
mkdir -p "$cache/app"
if [ ! -e "$cache/venv.ok" ]; then
  python3 -m venv "$cache/venv"
  "$cache/venv/bin/pip" -q install segno==1.6.1 inotify_simple==1.3.5
  touch "$cache/venv.ok"
fi
cp "$case"/*.js "$case"/*.json "$cache/app/"
cd "$cache/app"
[ -e "$cache/npm.ok" ] || { npm install --no-audit --no-fund --loglevel=error && touch "$cache/npm.ok"; }
