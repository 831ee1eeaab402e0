#!/bin/bash
# db.sh PORT TMP: a PostgreSQL of its own with the hotel's tables
set -e
D="$2/pg"; B=/usr/lib/postgresql/15/bin
mkdir -p "$D"; chown postgres "$D"; chmod 755 "$2"
cd "$D"
setpriv --reuid=postgres --regid=postgres --clear-groups "$B/initdb" -D "$D/data" -A trust -N >/dev/null
{ echo "CREATE TABLE room (id int primary key, name text, price int);"; echo
  echo "INSERT INTO room SELECT i, 'room ' || i, 4000 + i * 7 % 9000 FROM generate_series(1, 400) i;"; echo
  echo "CREATE TABLE stay (room int, guest text, nights int);"; echo
  echo "INSERT INTO stay SELECT 1 + i % 400, 'guest ' || i, 1 + i % 9 FROM generate_series(1, ${STAYS:-120000}) i;"; echo
  echo "CREATE INDEX ON stay (room);"; echo
  echo "CREATE TABLE counter (n int);"; echo
  echo "INSERT INTO counter VALUES (1000);"; } > "$D/fill.sql"
setpriv --reuid=postgres --regid=postgres --clear-groups "$B/postgres" --single -j -D "$D/data" postgres < "$D/fill.sql" >/dev/null 2>&1 || true
exec setpriv --reuid=postgres --regid=postgres --clear-groups "$B/postgres" -D "$D/data" -p "$1" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c synchronous_commit=off -c max_parallel_workers_per_gather=0 -c autovacuum=off -c jit=off
