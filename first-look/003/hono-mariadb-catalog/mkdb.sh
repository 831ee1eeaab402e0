#!/bin/bash
# mkdb.sh CACHE: a data folder with the schema in it, copied by db.sh
here=$(cd "$(dirname "$0")" && pwd)
rm -rf $1/db; D=$(mktemp -d /tmp/catalog-mk.XXXXXX); chown mysql: $D; cd /
mariadb-install-db --no-defaults --datadir=$D/d --user=mysql --auth-root-authentication-method=normal --skip-test-db >/dev/null 2>&1
mariadbd --no-defaults --datadir=$D/d --socket=$D/s --pid-file=$D/pid --user=mysql --skip-networking >/dev/null 2>&1 & db=$!
for i in {1..100}; do mariadb-admin --no-defaults -S $D/s -uroot ping >/dev/null 2>&1 && break; sleep 0.1; done
mariadb --no-defaults -S $D/s -uroot < $here/schema.sql || { kill $db; exit 1; }
kill $db; wait $db
cp -a $D/d $1/db; rm -rf $D
