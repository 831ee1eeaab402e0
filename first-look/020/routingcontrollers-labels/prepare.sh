#!/bin/sh
# prepare.sh CACHE CASE: npm packages, TypeScript to JavaScript
set -e
cache="$1"; case="$2"
mkdir -p "$cache"
sum=$(cat "$case"/package.json "$case"/tsconfig.json "$case"/src/*.ts | md5sum)
[ "$(cat "$cache/app.sum" 2>/dev/null)" = "$sum" ] && exit 0
mkdir -p "$cache/app"
cp "$case/package.json" "$case/tsconfig.json" "$cache/app/"
rm -rf "$cache/app/src" "$cache/app/dist"
cp -r "$case/src" "$cache/app/src"
cd "$cache/app"
npm install --no-audit --no-fund --ignore-scripts
node_modules/.bin/tsc -p .
echo "$sum" > "$cache/app.sum"
