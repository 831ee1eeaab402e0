#!/bin/sh
# $1 cache folder, $2 folder of the case
set -e
cp "$2"/*.mjs "$1"/
cd "$1"
echo '{"private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --silent itty-router@5.0.24 @whatwg-node/server@0.13.0 superagent@10.4.2
