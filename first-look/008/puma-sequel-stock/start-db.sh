#!/bin/sh
# start-db.sh PORT TMP: a PostgreSQL of its own
set -e
port=$1; tmp=$2
bin=$(pg_config --bindir 2>/dev/null || ls -d /usr/lib/postgresql/*/bin | tail -1)
mkdir -p "$tmp/pg"; chmod 755 "$tmp"; chown postgres "$tmp/pg"
as="setpriv --reuid=postgres --regid=postgres --clear-groups env LC_ALL=C"
cd "$tmp/pg"
$as "$bin/initdb" -D "$tmp/pg/data" -A trust -U stock --no-sync >"$tmp/initdb.log" 2>&1
  $as "$bin/postgres" --single -j -D "$tmp/pg/data" postgres >>"$tmp/initdb.log" 2>&1 <<S
CREATE TABLE stock AS SELECT i AS id, md5(i::text) AS name, (i * 7919) % 500 AS quantity FROM generate_series(1, 5000) i;

CREATE UNIQUE INDEX stock_id ON stock (id);

ANALYZE stock;

S
exec $as "$bin/postgres" -D "$tmp/pg/data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=40 -c shared_buffers=32MB -c fsync=off
