#!/bin/bash
# prepare.sh CACHE CASE: builds the server into CACHE/app and a database template into CACHE/db.tar
set -e
cache="$1"; case="$2"
mkdir -p "$cache/bin"
cd "$case"
go build -o "$cache/bin/catalog" .
[ -f "$cache/db.tar" ] && [ "$cache/db.tar" -nt "$case/schema.sql" ] && exit 0
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
work=$(mktemp -d /tmp/pgtemplate.XXXXXX)
as() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --init-groups "$@"; else "$@"; fi; }
[ "$(id -u)" = 0 ] && chown postgres "$work"
cd /tmp
as "$bin/initdb" -D "$work/data" -U postgres -A trust -E UTF8 --locale=C >/dev/null
as "$bin/pg_ctl" -D "$work/data" -w -o "-c listen_addresses='' -k $work -c fsync=off" -l "$work/log" start >/dev/null
psql -q -h "$work" -U postgres -c 'CREATE DATABASE shop'
psql -q -h "$work" -U postgres -d shop -v ON_ERROR_STOP=1 < "$case/schema.sql"
psql -q -h "$work" -U postgres -d shop -c 'VACUUM ANALYZE'
as "$bin/pg_ctl" -D "$work/data" -w -m fast stop >/dev/null
tar -C "$work" -cf "$cache/db.tar.new" data
mv "$cache/db.tar.new" "$cache/db.tar"
rm -rf "$work"
