#!/bin/sh
# start-db.sh PORT TMP TEMPLATE
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cp -a "$3" "$2/data"
exec mariadbd --no-defaults --user=root --datadir="$2/data" --bind-address=127.0.0.1 --port="$1" \
    --socket=mysql.sock --pid-file=mysql.pid --skip-name-resolve --init-file="$here/schema.sql" \
    --max-connections=150 --innodb-flush-log-at-trx-commit=2 --innodb-buffer-pool-size=64M --innodb-log-file-size=16M
