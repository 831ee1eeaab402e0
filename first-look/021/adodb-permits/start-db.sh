#!/bin/sh
set -e
port=$1 tmp=$2 template=$3
cp -r "$template/data" "$tmp/data"
exec mariadbd --no-defaults --user=root --datadir="$tmp/data" --socket="$tmp/db.sock" --pid-file="$tmp/db.pid" \
  --bind-address=127.0.0.1 --port="$port" --skip-name-resolve --innodb-log-file-size=16M --innodb-buffer-pool-size=64M \
  --log-error="$tmp/db.log"
