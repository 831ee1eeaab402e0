#!/bin/bash
# db.sh PORT TMP: a PostgreSQL of its own under TMP
set -e
PORT=$1; D=$2/pg; BIN=/usr/lib/postgresql/15/bin
as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
mkdir -p "$D"; chown postgres "$D"; chmod a+x "$2"
as test -w "$D" || { D=$(mktemp -d /tmp/stockdb.XXXXXX); chown postgres "$D"; }
cd "$D"
as $BIN/initdb -D "$D/data" -A trust -U postgres --no-sync -E UTF8 --locale=C >"$D/init.log"
cat >>"$D/data/postgresql.conf" <<C
listen_addresses = '127.0.0.1'
port = $PORT
unix_socket_directories = '$D'
fsync = off
synchronous_commit = off
shared_buffers = 32MB
C
as $BIN/postgres --single -D "$D/data" postgres >>"$D/init.log" 2>&1 <<'S'
create table product (id int primary key, stock int not null, price numeric not null)
insert into product select i, 1000000, 10 from generate_series(1, 8) i
S
exec setpriv --reuid=postgres --regid=postgres --clear-groups $BIN/postgres -D "$D/data"
