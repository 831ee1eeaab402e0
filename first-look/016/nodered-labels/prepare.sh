#!/bin/sh
# prepare.sh CACHE CASE: the npm packages into CACHE
set -e
mkdir -p "$1"
[ -d "$1/node_modules/node-red" ] && exit 0
cp "$2/package.json" "$1/"
cd "$1" && npm install --no-audit --no-fund --loglevel=error </dev/null
