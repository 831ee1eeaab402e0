#!/bin/sh
# $1 = port, $2 = directory, $3 = template, $4 = binlog_commit_wait_count
set -e
cp -a "$3" "$2/data"
exec mariadbd --no-defaults --user=root --datadir="$2/data" --bind-address=127.0.0.1 --port="$1" \
  --socket="$2/db.sock" --pid-file="$2/db.pid" --skip-name-resolve \
  --log-bin="$2/binlog" --server-id=1 --sync-binlog=0 --innodb-flush-log-at-trx-commit=2 \
  --binlog-commit-wait-count="$4" --binlog-commit-wait-usec=60000 \
  --innodb-buffer-pool-size=64M --max-connections=60
