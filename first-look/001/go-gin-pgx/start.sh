#!/bin/sh
# start.sh PORT TMP CACHE
set -e
cp -a "$3/pg/d" "$2/d"
chown postgres "$2" "$2/d"
cd "$2"
exec setpriv --reuid=postgres --regid=postgres --init-groups /usr/lib/postgresql/15/bin/postgres -D "$2/d" -p "$1" -h 127.0.0.1 -k ""
