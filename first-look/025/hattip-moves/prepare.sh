#!/bin/sh
# prepare.sh CACHE CASE: packages, the generated client, a filled PostgreSQL cluster
set -eu
cache=$1 case=$2
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
cp "$case/package.json" "$case/package-lock.json" "$case/schema.prisma" "$case/app.mjs" "$case/link.mjs" "$cache/"
if [ ! -e "$cache/client.complete" ]; then
    (
        cd "$cache"
        npm ci --ignore-scripts --no-audit --no-fund --silent
        # only the client is generated; no engine is needed for that, nor downloaded
        PRISMA_SCHEMA_ENGINE_BINARY=/bin/true CHECKPOINT_DISABLE=1 DATABASE_URL=postgresql://x \
            node_modules/.bin/prisma generate --schema schema.prisma >generate.log 2>&1
    )
    touch "$cache/client.complete"
fi
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
    $as "$bin/initdb" -D "$cache/db" -U game -A trust -E UTF8 --locale=C.UTF-8 >"$cache/initdb.log" 2>&1
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
    $as psql -q -h "$cache/run" -U game -d postgres -c "CREATE DATABASE game"
    $as psql -q -h "$cache/run" -U game -d game -f "$cache/run/schema.sql"
    $as psql -q -h "$cache/run" -U game -d game -c "VACUUM ANALYZE"
    $as "$bin/pg_ctl" -D "$cache/db" -w stop >/dev/null
    touch "$cache/db.complete"
fi
