#!/bin/sh
# start-db.sh PORT TMP CACHE COMMIT_WAIT_USEC: MariaDB with the binary log, as on a primary
set -e
port=$1 tmp=$2 cache=$3 wait=$4
cp -r "$cache/db" "$tmp/db"
exec mariadbd --no-defaults --user="$(id -un)" --datadir="$tmp/db" --bind-address=127.0.0.1 --port="$port" --socket="$tmp/db.sock" \
    --pid-file="$tmp/db.pid" --innodb-log-file-size=8M --innodb-buffer-pool-size=64M --skip-name-resolve --server-id=1 \
    --log-bin="$tmp/binlog" --sync-binlog=0 --innodb-flush-log-at-trx-commit=2 \
    --binlog-commit-wait-count=12 --binlog-commit-wait-usec="$wait"
