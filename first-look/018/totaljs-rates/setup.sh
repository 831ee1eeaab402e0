#!/bin/sh
set -e
mkdir -p "$1"
cp "$2/package.json" "$2/server.js" "$2/prices.js" "$1/"
cd "$1"
[ -d node_modules/nats ] && [ -d node_modules/total4 ] || npm install --no-audit --no-fund --ignore-scripts
