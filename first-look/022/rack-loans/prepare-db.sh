#!/bin/sh
# prepare-db.sh DIR SCHEMA.sql: makes the template of the database
set -e
dir=$1; sql=$2
[ -e "$dir.ok" ] && exit 0
rm -rf "$dir" && mkdir -p "$dir"
mariadb-install-db --no-defaults --user=root --datadir="$dir" --auth-root-authentication-method=normal --skip-test-db > "$dir.log" 2>&1
sock=$(mktemp -u /tmp/prep-XXXXXX.sock)
mariadbd --no-defaults --user=root --datadir="$dir" --skip-networking --socket="$sock" --innodb-log-file-size=32M >> "$dir.log" 2>&1 &
pid=$!
i=0
until mariadb-admin --no-defaults --socket="$sock" -u root ping > /dev/null 2>&1 || [ $i -ge 100 ]; do sleep 0.2; i=$((i+1)); done
mariadb --no-defaults --socket="$sock" -u root < "$sql"
kill "$pid"; wait "$pid" || true
touch "$dir.ok"
