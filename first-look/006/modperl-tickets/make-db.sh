#!/bin/sh
# make-db.sh CACHE: a filled database cluster in CACHE/pg
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
here=$(cd "$(dirname "$0")" && pwd)
d=$(mktemp -d /tmp/makedb.XXXXXX); chown postgres "$d"
as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
cd "$d"
as "$bin/initdb" -D "$d/pg" -A trust -U shop --no-sync >/dev/null
as "$bin/pg_ctl" -D "$d/pg" -w -o "-c listen_addresses='' -c unix_socket_directories=$d" -l "$d/log" start >/dev/null
"$bin/psql" -h "$d" -U shop -d postgres -q -v ON_ERROR_STOP=1 -c 'create database shop'
"$bin/psql" -h "$d" -U shop -d shop -q -v ON_ERROR_STOP=1 -f "$here/schema.sql"
"$bin/psql" -h "$d" -U shop -d shop -q -c 'vacuum'
as "$bin/pg_ctl" -D "$d/pg" -w stop >/dev/null
rm -rf "$1/pg"; cp -r "$d/pg" "$1/pg"; cd /; rm -rf "$d"
