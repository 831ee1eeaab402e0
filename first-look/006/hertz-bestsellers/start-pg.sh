#!/bin/bash
# start-pg.sh PORT TMP: a PostgreSQL with the sales of the shop, data under TMP
set -e
BIN=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
chmod a+x "$2"; D=$2/pg; mkdir -p "$D"; chown postgres "$D"
AS="setpriv --reuid postgres --regid postgres --clear-groups"
cd "$D"
$AS "$BIN/initdb" -D "$D/data" -U postgres -A trust --no-sync >/dev/null
$AS "$BIN/postgres" --single -j -D "$D/data" postgres >/dev/null <<'SQL'
create table books (id int primary key, title text);

create table sales (book int, copies int);

insert into books select i, 'The book number ' || i from generate_series(1, 2000) i;

insert into sales select 1 + (i * 7919) % 2000, 1 + i % 5 from generate_series(1, 90000) i;

vacuum analyze;
SQL
exec $AS "$BIN/postgres" -D "$D/data" -p "$1" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$D" -c fsync=off -c max_connections=80 -c max_parallel_workers_per_gather=0 -c autovacuum=off -c jit=off
