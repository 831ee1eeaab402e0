#!/bin/sh
# prepare.sh CACHE CASE
set -e
cache=$1; case=$2
mkdir -p "$cache/app"
cp "$case"/*.ts "$case"/*.mjs "$case"/package.json "$cache/app/"
cd "$cache/app"
[ -e "$cache/npm.ok" ] || { npm install --no-audit --no-fund --loglevel=error && touch "$cache/npm.ok"; }
./node_modules/.bin/bun --version > /dev/null
