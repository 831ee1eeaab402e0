#!/bin/bash
# PostgreSQL under the given folder; the yearly turnover is a call to the archive (pg_sleep stands for its disks)
set -e
port=$1; dir=$2/pg; bin=/usr/lib/postgresql/15/bin
chmod 755 "$2"; mkdir -p "$dir"; chown postgres "$dir"
as() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
cd /
as $bin/initdb -D "$dir" -A trust -U shop --no-sync >/dev/null
printf 'create function turnover(y int) returns table(amount numeric) language sql as $$ select 1.5*g from generate_series(1,12) g, pg_sleep(0.2) $$;\n' | as $bin/postgres --single -D "$dir" -j postgres >/dev/null
exec setpriv --reuid postgres --regid postgres --clear-groups $bin/postgres -D "$dir" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c shared_buffers=16MB -c jit=off
