#!/bin/sh
# start-db.sh PORT TMP TEMPLATE: a copy of the prepared cluster
set -eu
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
cp -a "$3" "$2/data"
mkdir -p "$2/run"
if [ "$(id -u)" = 0 ]; then
    chown -R postgres "$2/data" "$2/run"
    chmod 711 "$2"
    exec setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/postgres" -D "$2/data" -p "$1" -k "$2/run"
fi
exec "$bin/postgres" -D "$2/data" -p "$1" -k "$2/run"
