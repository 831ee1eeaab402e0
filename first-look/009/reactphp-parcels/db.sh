#!/bin/sh
# db.sh PORT TMP CACHE
cp -a "$3/data" "$2/data"
exec mysqld --no-defaults --user=root --datadir="$2/data" --port="$1" --bind-address=127.0.0.1 \
  --socket="$2/s.sock" --pid-file="$2/pid" --innodb-log-file-size=16M --innodb-buffer-pool-size=64M --skip-name-resolve
