#!/bin/sh
# A PostgreSQL of its own in a scratch folder, in the foreground. PostgreSQL refuses to run as root.
#
#     start-db.sh PORT FOLDER
set -eu
port=$1 data=$2/data
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
PATH=${bin:-}:$PATH
as=
if [ "$(id -u)" = 0 ]; then
    chown nobody "$2"
    as="setpriv --reuid=nobody --clear-groups --inh-caps=-all"
fi
cd "$2"
$as initdb --auth=trust --username=lab --no-sync --pgdata="$data" > initdb.log
exec $as postgres -D "$data" -p "$port" -h 127.0.0.1 -k "$2" -c fsync=off
