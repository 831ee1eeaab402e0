#!/bin/sh
# start-db.sh PORT TMP CACHE COMMIT_DELAY(microseconds) ; PG_LOG_EXTRA (more settings, normally none)
set -e
port=$1 data=$2/db template=$3/db shared=$3/shared
rm -rf "$shared"
mkdir -p "$shared"
echo "$port" > "$shared/db.port"
chmod 755 "$2"
if ! setpriv --reuid=postgres --regid=postgres --clear-groups test -x "$2"; then
    data=/tmp/kinto-preferences-db
    rm -rf "$data"
fi
cp -a "$template" "$data"
chown -R postgres:postgres "$data"
chmod 700 "$data"
cd /
exec setpriv --reuid=postgres --regid=postgres --clear-groups \
    /usr/lib/postgresql/15/bin/postgres -D "$data" -p "$port" \
    -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
    -c shared_buffers=64MB -c max_connections=60 -c checkpoint_timeout=1h -c autovacuum=off \
    -c commit_delay="$4" -c commit_siblings=3 $PG_LOG_EXTRA
