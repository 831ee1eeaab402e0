#!/bin/sh
# start-db.sh PORT TMP: a PostgreSQL of its own
set -e
port=$1; tmp=$2
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
mkdir -p "$tmp/pg"; chmod 755 "$tmp"; chown postgres "$tmp/pg"
as="setpriv --reuid=postgres --regid=postgres --clear-groups env LC_ALL=C"
cd "$tmp/pg"
$as "$bin/initdb" -D "$tmp/pg/data" -A trust -U supplier --no-sync >"$tmp/initdb.log" 2>&1
$as "$bin/postgres" --single -j -D "$tmp/pg/data" postgres >>"$tmp/initdb.log" 2>&1 <<S



CREATE TABLE article AS SELECT i AS id, (i * 7919) % 500 AS price FROM generate_series(1, 3000) i;

CREATE UNIQUE INDEX article_id ON article (id);

VACUUM ANALYZE;

S
exec $as "$bin/postgres" -D "$tmp/pg/data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=60 -c shared_buffers=64MB -c fsync=off -c jit=off -c max_parallel_workers_per_gather=0 -c work_mem=32MB
