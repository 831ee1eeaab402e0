#!/bin/sh
# $1 cache folder, $2 folder of the case: makes the database once
set -e
rm -rf "$1/db"
mariadb-install-db --no-defaults --user=root --auth-root-authentication-method=normal --skip-test-db --innodb-log-file-size=8M --datadir="$1/db" >/dev/null
tr '\n' ' ' < "$2/init.sql" | sed 's/; */;\n/g' > "$1/init1.sql"
mariadbd --no-defaults --user=root --datadir="$1/db" --innodb-log-file-size=8M --bootstrap < "$1/init1.sql"
