#!/bin/sh
# mariadb.sh PORT TMP
here=$(dirname "$(readlink -f "$0")")
data=$2/data; mkdir -p "$2"
mariadb-install-db --no-defaults --user=root --datadir="$data" --auth-root-authentication-method=normal --skip-test-db --innodb-log-file-size=16M >/dev/null 2>&1
exec mariadbd --no-defaults --user=root --datadir="$data" --port="$1" --bind-address=127.0.0.1 --socket="$2/db.sock" --pid-file="$2/db.pid" \
  --innodb-log-file-size=16M --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=2 --skip-name-resolve --init-file="$here/seed.sql"
