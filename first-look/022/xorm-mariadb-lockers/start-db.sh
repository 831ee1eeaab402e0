#!/bin/sh
# start-db.sh PORT TMP TEMPLATE GROUP_COUNT GROUP_USEC
set -e
PATH=$PATH:/usr/sbin
cp -r "$3" "$2/data"
cat >"$2/init.sql" <<SQL
CREATE USER 'lockers'@'127.0.0.1' IDENTIFIED BY 'lockers';
GRANT ALL ON lockers.* TO 'lockers'@'127.0.0.1';
SQL
exec mariadbd --no-defaults --user=root --datadir="$2/data" --bind-address=127.0.0.1 --port="$1" \
    --socket="$2/db.sock" --pid-file="$2/db.pid" --skip-name-resolve --init-file="$2/init.sql" \
    --innodb-log-file-size=8M --innodb-buffer-pool-size=32M --max-connections=60 \
    --innodb-flush-log-at-trx-commit=0 --sync-binlog=0 \
    --server-id=1 --log-bin="$2/data/binlog" --binlog-format=ROW \
    --binlog-commit-wait-count="$4" --binlog-commit-wait-usec="$5"
