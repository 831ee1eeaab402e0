#!/bin/sh
# $1 cache folder, $2 folder of the case
set -e
cp "$2/package.json" "$2/app.mjs" "$2/shipper.mjs" "$2/logstore.mjs" "$1/"
cd "$1"
exec npm install --silent --no-audit --no-fund
