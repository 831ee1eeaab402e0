#!/bin/sh
# start-db.sh PORT TMP CACHE CASE COMMIT_DELAY
set -e
dir=$2
as="setpriv --reuid=postgres --regid=postgres --clear-groups"
if ! $as test -x "$dir"; then
    chmod a+x "$dir"
    $as test -x "$dir" || dir=$(mktemp -d /tmp/holds-db-XXXXXX)
fi
chmod a+x "$dir"
tar -C "$dir" -xf "$3/db.tar"
chown -R postgres: "$dir/data"
cat >>"$dir/data/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
port = $1
unix_socket_directories = '$dir/data'
max_connections = 60
shared_buffers = 64MB
max_wal_size = 1GB
checkpoint_timeout = 30min
autovacuum = off
commit_siblings = 4
commit_delay = $5
CONF
exec python3 "$4/run-db.py" "$dir"
