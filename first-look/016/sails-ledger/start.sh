#!/bin/sh
# start.sh CACHE CASE TMP
cp "$2/app.js" "$1/app.js"
mkdir -p "$3/books"
export BOOKS="$3/books" NODE_ENV=production
cd "$1" && exec node app.js
