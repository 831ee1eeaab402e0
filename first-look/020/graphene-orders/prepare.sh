#!/bin/bash
# virtual environment and a database template; repeatable
set -e
cache=$1; here=$2
mkdir -p "$cache"
if [ ! -e "$cache/venv/.done" ]; then
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" -q install -r "$here/requirements.txt"
    touch "$cache/venv/.done"
fi
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
if [ ! -e "$cache/db.tar" ]; then
    work=$(mktemp -d /tmp/orders-db.XXXXXX)
    chown postgres "$work"
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
    cd /
    $as "$bin/initdb" -D "$work/data" -U shop -A trust -E UTF8 --locale=C >/dev/null
    $as "$bin/pg_ctl" -D "$work/data" -w -o "-c listen_addresses='' -c unix_socket_directories=$work -c fsync=off" -l "$work/log" start >/dev/null
    psql -q -h "$work" -U shop -d postgres -v ON_ERROR_STOP=1 <"$here/schema.sql"
    $as "$bin/pg_ctl" -D "$work/data" -w -m fast stop >/dev/null
    tar -C "$work" -cf "$cache/db.tar.new" data
    mv "$cache/db.tar.new" "$cache/db.tar"
    rm -rf "$work"
fi
