#!/bin/sh
# start.sh CACHE CASE TMP: the application lies beside its node_modules
set -e
rm -rf "$1/shop" && mkdir -p "$1/shop"
cp -r "$2/app" "$2/config" "$2/package.json" "$2/server.js" "$2/app.js" "$1/shop/"
export RUN_DIR="$3" HOME="$3" EGG_SERVER_ENV=prod NODE_ENV=production
cd "$1/shop" && exec node server.js
