#!/bin/sh
# $1 = port, $2 = scratch, $3 = template
cp -r "$3" "$2/data"
cat > "$2/my.cnf" <<N
[mariadbd]
user = root
datadir = $2/data
socket = $2/s
pid-file = $2/pid
bind-address = 127.0.0.1
port = $1
skip-name-resolve
innodb-log-file-size = 16M
innodb-flush-log-at-trx-commit = 2
server-id = 7
log-bin = $2/data/binlog
binlog-format = ROW
sync-binlog = 0
# groups for the replicas, which apply the transactions of a group in parallel
binlog-commit-wait-count = $COMMIT_WAIT_COUNT
binlog-commit-wait-usec = 50000
N
exec mariadbd --defaults-file="$2/my.cnf"
