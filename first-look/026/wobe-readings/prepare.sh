#!/bin/sh
# prepare.sh CACHE CASE: bun and wobe from npm
set -eu
cache=$1
case=$2
if [ ! -e "$cache/.complete" ]; then
    mkdir -p "$cache"
    cp "$case/package.json" "$cache/"
    if [ -e "$case/package-lock.json" ]; then cp "$case/package-lock.json" "$cache/"; fi
    cd "$cache"
    npm install --no-audit --no-fund --ignore-scripts
    touch "$cache/.complete"
fi
# bun looks for modules beside the program
cp "$case/server.js" "$cache/"
