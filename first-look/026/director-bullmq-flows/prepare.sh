#!/bin/sh
# prepare.sh CACHE CASE: the packages and the two programs, in CACHE
set -eu
cache=$1
case=$2
mkdir -p "$cache"
cp "$case/package.json" "$case/package-lock.json" "$case/api.js" "$case/worker.js" "$cache/"
cd "$cache"
npm ci --no-audit --no-fund --ignore-scripts --loglevel=error >&2
