#!/bin/sh
# PostgreSQL of Debian on a scratch folder: start-db.sh PORT FOLDER
set -e
B=/usr/lib/postgresql/15/bin
chmod 755 "$2"
mkdir -p "$2/pg"
chown postgres "$2/pg"
runuser -u postgres -- $B/initdb -D "$2/pg" -A trust -U postgres --no-sync >/dev/null
exec setpriv --reuid=postgres --regid=postgres --init-groups $B/postgres -D "$2/pg" -p "$1" -k "$2/pg" -c listen_addresses=127.0.0.1 -c fsync=off -c shared_buffers=64MB
