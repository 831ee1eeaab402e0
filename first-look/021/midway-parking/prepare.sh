#!/bin/sh
# $1 = cache, $2 = case
set -e
mkdir -p "$1/app"
cp -r "$2/package.json" "$2/tsconfig.json" "$2/src" "$1/app/"
cd "$1/app"
[ -d node_modules/@midwayjs/logger ] && [ -d node_modules/typescript ] || npm install --no-audit --no-fund --ignore-scripts </dev/null
node_modules/.bin/tsc
[ -f "$1/db.ready" ] && exit 0
rm -rf "$1/db" "$1/sock"; mkdir -p "$1/db" "$1/sock"
chown -R postgres "$1/db" "$1/sock"
BIN=/usr/lib/postgresql/15/bin
as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
cd /
as $BIN/initdb -D "$1/db" -A trust -U postgres >/dev/null
as $BIN/pg_ctl -D "$1/db" -w -o "-c listen_addresses='' -k $1/sock -c fsync=off" start </dev/null >/dev/null 2>&1
PSQL="psql -h $1/sock -U postgres -v ON_ERROR_STOP=1 -q"
$PSQL -d postgres -c 'CREATE DATABASE parking'
sed 's/ROWS/100000/' "$2/schema.sql" | $PSQL -d parking
as $BIN/pg_ctl -D "$1/db" -w -m fast stop >/dev/null
touch "$1/db.ready"
