#!/bin/sh
# as-user.sh DATADIR PROGRAM ...: PostgreSQL refuses to run as root. A user namespace gives root another number here
# (it owns the same files as before); where that is not to be had, DATADIR is handed to the user postgres.
dir=$1
shift
if [ "$(id -u)" != 0 ]; then
    exec "$@"
elif unshare --user --map-user=1000 --map-group=1000 true 2>/dev/null; then
    exec unshare --user --map-user=1000 --map-group=1000 "$@"
fi
chown -R postgres "$dir"
exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
