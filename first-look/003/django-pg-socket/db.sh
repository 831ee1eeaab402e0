#!/bin/bash
# db.sh PORT TMP: listens on PORT and on the Unix socket /tmp/books-pg.PORT
port=$1 tmp=$2 job=$3
here=$(cd "$(dirname "$0")" && pwd)
B=/usr/lib/postgresql/15/bin
D=/tmp/books-pg.$port; rm -rf $D; mkdir $D
ln -sfn $D $tmp/data
chown postgres: $D
as="setpriv --reuid=postgres --regid=postgres --clear-groups"
cd /
$as $B/initdb -D $D/d -A trust --no-sync -U postgres >/dev/null
cat >> $D/d/postgresql.conf <<C
listen_addresses = '127.0.0.1'
unix_socket_directories = '$D'
synchronous_commit = off
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
shared_buffers = 128MB
C
# the port opens for the world only once the tables are there
$as $B/postgres -D $D/d -p $port -c listen_addresses= & boot=$!
until $B/pg_isready -q -h $D -p $port; do sleep 0.1; done
$B/psql -q -h $D -p $port -U postgres -f $here/schema.sql
kill -INT $boot; wait $boot
trap 'kill -INT $db; kill $(jobs -p) 2>/dev/null; wait; rm -rf $D; exit 0' TERM INT
$as $B/postgres -D $D/d -p $port &
db=$!
until $B/pg_isready -q -h $D -p $port; do sleep 0.05; done
if [ "$job" ]; then $B/psql -q -h $D -p $port -U postgres -f $here/$job >/dev/null 2>&1 & fi
wait $db
