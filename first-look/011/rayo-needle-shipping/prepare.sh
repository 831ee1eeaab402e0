#!/bin/sh
# $1 cache folder, $2 folder of the case
set -e
cp "$2"/*.mjs "$1"/
cd "$1"
echo '{"private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --silent rayo@1.4.6 needle@3.5.0 cacheable-lookup@7.0.0
