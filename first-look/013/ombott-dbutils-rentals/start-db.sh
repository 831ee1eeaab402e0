#!/bin/sh
# $1 port, $2 scratch folder, $3 the prepared data folder
cp -r "$3" "$2/data" || exit 1
exec mariadbd --no-defaults --user=root --datadir="$2/data" --port="$1" --bind-address=127.0.0.1 --socket="$2/s.sock" \
  --pid-file="$2/pid" --innodb-buffer-pool-size=32M --innodb-log-file-size=8M --innodb-flush-log-at-trx-commit=2 \
  --skip-name-resolve --performance-schema=OFF --skip-log-bin
