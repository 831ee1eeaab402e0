#!/bin/sh
# mariadb.sh PORT TMP CACHE CASE
set -e
cp -a "$3/data" "$2/data"
exec mysqld --no-defaults --user=root --datadir="$2/data" --socket="$2/m.sock" --pid-file="$2/m.pid" --bind-address=127.0.0.1 --port="$1" \
  --init-file="$4/schema.sql" --skip-name-resolve --innodb-log-file-size=8M --innodb-flush-log-at-trx-commit=2 --max-connections=200
