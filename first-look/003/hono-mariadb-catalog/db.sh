#!/bin/bash
# db.sh PORT TMP CACHE JOB
port=$1 tmp=$2 job=$4
D=$(mktemp -d /tmp/catalog-db.XXXXXX)
ln -sfn $D $tmp/data
cp -a $3/db $D/d
chown mysql: $D
cd /
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf $D; exit 0' TERM INT
mariadbd --no-defaults --datadir=$D/d --socket=$D/s --pid-file=$D/pid --user=mysql --skip-name-resolve --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=2 --port=$port --bind-address=127.0.0.1 &
db=$!
until mariadb-admin --no-defaults -S $D/s -uroot ping >/dev/null 2>&1; do sleep 0.05; done
m="mariadb --no-defaults -S $D/s -uroot shop"
# every 0.8 s: the stock report opens a transaction for 0.25 s, the release deploys a new comment on the table
while [ "$job" ]; do
  $m -e "START TRANSACTION; SELECT COUNT(*) FROM products; SELECT SLEEP(0.25); COMMIT" >/dev/null &
  if [ "$job" = release ]; then
    sleep 0.06
    $m -e "ALTER TABLE products COMMENT 'release $((++n))'" >/dev/null &
    sleep 0.74
  else
    sleep 0.8
  fi
done &
wait $db
