#!/bin/bash
set -e
port=$1; tmp=$2; cache=$3; case=$4
cp -r "$cache/db" "$tmp/db"
exec mariadbd --no-defaults --user=root --datadir="$tmp/db" --socket="$tmp/s.sock" --pid-file="$tmp/pid" \
  --bind-address=127.0.0.1 --port="$port" --init-file="$case/init.sql" --skip-name-resolve --skip-log-bin \
  --innodb-flush-log-at-trx-commit=2 --innodb-buffer-pool-size=64M --max-connections=120
