#!/bin/sh
# usage: start-db.sh PORT TMP DATA
port=$1; data=$3
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
run=""
cd /
if [ "$(id -u)" = 0 ]; then
  run="setpriv --reuid=postgres --regid=postgres --clear-groups"
  # the cache may lie in a folder that the user postgres cannot enter
  if ! $run test -r "$data/PG_VERSION"; then
    rm -rf "/tmp/pg-$port"; cp -a "$data" "/tmp/pg-$port"; data="/tmp/pg-$port"
  fi
fi
rm -f "$data/postmaster.pid"
exec $run "$bin/postgres" -D "$data" -p "$port" -h 127.0.0.1 -k "" -c fsync=off -c shared_buffers=32MB -c max_connections=40
