#!/bin/sh
# start-db.sh PORT TMP CACHE
set -e
cp -r "$3/data" "$2/data"
exec mariadbd --no-defaults --user=root --datadir="$2/data" --innodb-log-file-size=8M --innodb-buffer-pool-size=256M --skip-name-resolve --bind-address=127.0.0.1 --port="$1" --socket="$2/s.sock" --pid-file="$2/s.pid"
