#!/bin/sh
# start-db.sh PORT TMP TEMPLATE WAIT_COUNT: a copy of the template; binary log on, as on the primary of the replicated set.
set -e
cp -a "$3" "$2/db"
exec mariadbd --no-defaults --user=root --datadir="$2/db" --bind-address=127.0.0.1 --port="$1" --socket="$2/db.sock" \
  --pid-file="$2/db.pid" --skip-name-resolve --performance-schema=0 --innodb-buffer-pool-size=64M --innodb-log-file-size=32M \
  --log-bin="$2/db/binlog" --server-id=11 --binlog-format=ROW --sync-binlog=0 --innodb-flush-log-at-trx-commit=2 \
  --binlog-commit-wait-count="$4" --binlog-commit-wait-usec=60000
