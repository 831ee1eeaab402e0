#!/bin/sh
# start.sh CACHE TMP: runs the server on a copy of the database template
set -e
cp -r "$1/db" "$2/db"
exec "$1/build/server" "$2/db"
