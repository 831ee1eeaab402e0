#!/bin/sh
# $1 = cache, $2 = case
set -e
mkdir -p "$1/app"
cp "$2/package.json" "$2/app.js" "$2/rates.js" "$2/rates.proto" "$1/app/"
cd "$1/app"
[ -d node_modules/@marblejs/http ] && [ -d node_modules/@grpc/grpc-js ] && exit 0
npm install --no-audit --no-fund --ignore-scripts --legacy-peer-deps </dev/null
