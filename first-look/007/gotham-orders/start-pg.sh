#!/bin/sh
# a PostgreSQL of its own under $2, listening on 127.0.0.1:$1
set -e
port=$1; dir=$2/pg; bin=/usr/lib/postgresql/15/bin; here=$(dirname "$(readlink -f "$0")")
mkdir -p "$dir/sock"; chmod 755 "$2" "$dir"; cp "$here/schema.sql" "$dir/"; chown -R postgres "$dir"; cd "$dir"
as() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }
as $bin/initdb -D "$dir/data" -A trust -U postgres -E UTF8 --locale=C >/dev/null
as $bin/pg_ctl -D "$dir/data" -w -o "-c listen_addresses='' -k $dir/sock" start >/dev/null
as psql -q -h "$dir/sock" -U postgres -f "$dir/schema.sql" postgres
as $bin/pg_ctl -D "$dir/data" -w -m fast stop >/dev/null
exec setpriv --reuid=postgres --regid=postgres --init-groups $bin/postgres -D "$dir/data" -p "$port" -k "$dir/sock" -c listen_addresses=127.0.0.1
