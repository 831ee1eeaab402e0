#!/bin/sh
# $1 cache folder, $2 folder of the case
set -e
cp "$2"/*.mjs "$1"/
cd "$1"
echo '{"private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --silent @curveball/core@1.0.2 @curveball/kernel@1.0.0 @curveball/router@2.0.0 cache-manager@7.2.9
