#!/bin/sh
# start-db.sh PORT TMP DUMP
set -eu
cp "$3" "$2/dump.rdb"
exec redis-server --bind 127.0.0.1 --port "$1" --dir "$2" --dbfilename dump.rdb --save "" --appendonly no
