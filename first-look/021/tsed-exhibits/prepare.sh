#!/bin/sh
# $1 = cache, $2 = case
set -e
mkdir -p "$1/app"
cp -r "$2/package.json" "$2/tsconfig.json" "$2/src" "$1/app/"
cd "$1/app"
[ -d node_modules/@tsed/platform-express ] && [ -d node_modules/typescript ] || npm install --no-audit --no-fund --ignore-scripts --legacy-peer-deps </dev/null
node_modules/.bin/tsc
[ -f "$1/db.ready" ] && exit 0
rm -rf "$1/db" "$1/sock"; mkdir -p "$1/db" "$1/sock"
mariadb-install-db --no-defaults --user=root --datadir="$1/db" --auth-root-authentication-method=normal --skip-test-db --innodb-log-file-size=16M >/dev/null 2>&1
mariadbd --no-defaults --user=root --datadir="$1/db" --socket="$1/sock/s" --pid-file="$1/sock/pid" --skip-networking --innodb-log-file-size=16M >"$1/sock/log" 2>&1 &
DB=$!
n=0; until mariadb-admin --no-defaults -u root -S "$1/sock/s" ping >/dev/null 2>&1; do n=$((n+1)); [ $n -lt 100 ]; sleep 0.3; done
mariadb --no-defaults -u root -S "$1/sock/s" < "$2/schema.sql"
kill $DB; wait $DB || true
touch "$1/db.ready"
