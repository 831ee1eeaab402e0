#!/bin/sh
# prepare.sh CACHE CASE: the file of rules, a filled PostgreSQL cluster
set -eu
cache=$1 case=$2
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
if [ ! -e "$cache/db.complete" ]; then
    rm -rf "$cache/db" "$cache/run"
    mkdir -p "$cache/db" "$cache/run"
    as=
    if [ "$(id -u)" = 0 ]; then
        chown postgres "$cache/db" "$cache/run"
        as="setpriv --reuid=postgres --regid=postgres --clear-groups"
    fi
    cp "$case/schema.sql" "$cache/run/schema.sql"
    cd /
    $as "$bin/initdb" -D "$cache/db" -U tariffs -A trust -E UTF8 --locale=C.UTF-8 >"$cache/initdb.log" 2>&1
    cat >>"$cache/db/postgresql.conf" <<'C'
listen_addresses = '127.0.0.1'
max_connections = 120
shared_buffers = 64MB
fsync = off
synchronous_commit = off
autovacuum = off
jit = off
C
    $as "$bin/pg_ctl" -D "$cache/db" -w -o "-k $cache/run -c listen_addresses=''" -l "$cache/run/log" start >/dev/null
    $as psql -q -h "$cache/run" -U tariffs -d postgres -c "CREATE DATABASE tariffs"
    $as psql -q -h "$cache/run" -U tariffs -d tariffs -f "$cache/run/schema.sql"
    $as psql -q -h "$cache/run" -U tariffs -d tariffs -c "VACUUM ANALYZE"
    $as "$bin/pg_ctl" -D "$cache/db" -w stop >/dev/null
    touch "$cache/db.complete"
fi
if [ ! -e "$cache/rules.csv.xz" ]; then
    awk 'BEGIN { srand(5); for (z = 1; z <= 120; z++) for (i = 0; i < 90; i++) {
        f = i * 333; printf "Z%d;%d;%d;%d\n", z, f, f + 700 + int(rand() * 1800), 5 + int(rand() * 90) } }' \
        >"$cache/rules.csv"
    xz --force "$cache/rules.csv"
fi
