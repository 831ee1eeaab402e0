#!/bin/sh
# $1 = cache, $2 = case: builds the server and a template of the database
set -e
mkdir -p "$1/build"
rm -rf "$1/build/src"
cp -r "$2/pom.xml" "$2/src" "$1/build/"
(cd "$1/build" && mvn -q -B package)

bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
work=$(mktemp -d /tmp/airquality.XXXXXX)
chown postgres "$work"
as="setpriv --reuid=postgres --regid=postgres --clear-groups"
cd "$work"
trap '[ ! -f "$work/db/postmaster.pid" ] || kill -INT $(head -n 1 "$work/db/postmaster.pid")' EXIT
$as "$bin/initdb" -D "$work/db" -A trust -U postgres --no-sync --locale=C -E UTF8 >"$1/initdb.log"
$as "$bin/pg_ctl" -D "$work/db" -w -l "$work/log" -o "-c listen_addresses='' -k $work -c fsync=off" start >/dev/null
$as psql -q -X -v ON_ERROR_STOP=1 -h "$work" -U postgres -f - postgres <"$2/schema.sql"
$as "$bin/pg_ctl" -D "$work/db" -w -m fast stop >/dev/null
rm -rf "$1/db"
mv "$work/db" "$1/db"
rm -rf "$work"
