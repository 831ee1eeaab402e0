#!/bin/sh
# start-db.sh PORT TMP: a PostgreSQL of its own
set -e
port=$1; tmp=$2
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
mkdir -p "$tmp/pg"; chmod 755 "$tmp"; chown postgres "$tmp/pg"
as="setpriv --reuid=postgres --regid=postgres --clear-groups env LC_ALL=C"
cd "$tmp/pg"
$as "$bin/initdb" -D "$tmp/pg/data" -A trust -U shop --no-sync >"$tmp/initdb.log" 2>&1
$as "$bin/postgres" --single -j -D "$tmp/pg/data" postgres >>"$tmp/initdb.log" 2>&1 <<S
CREATE TABLE articles AS SELECT i AS id, md5(i::text) AS name, (i * 7919) % 500 AS price FROM generate_series(1, 2000) i;

CREATE UNIQUE INDEX articles_id ON articles (id);

CREATE TABLE sales AS SELECT (i * 7919) % 2000 AS article, (i::bigint * 104729) % 3000 AS customer, i % 5 + 1 AS amount FROM generate_series(1, 50000) i;

VACUUM ANALYZE;

S
exec $as "$bin/postgres" -D "$tmp/pg/data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=60 -c shared_buffers=64MB -c fsync=off -c jit=off -c max_parallel_workers_per_gather=0 -c work_mem=32MB
