#!/bin/bash
# usage: prepare.sh CACHE CASE
set -e
cache=$1 case=$2
mkdir -p "$cache/build"
if [ ! -e "$cache/build/done" ] || [ -n "$(find "$case/src" "$case/pom.xml" -newer "$cache/build/done" -type f)" ]; then
  mvn -q -B -f "$case/pom.xml" -Dout="$cache/build" -DskipTests package </dev/null
  touch "$cache/build/done"
fi
if [ ! -e "$cache/db/done" ]; then
  pg=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
  work=$(mktemp -d /tmp/deliveries-db.XXXXXX)
  chown postgres "$work"
  as() { (cd "$work"; setpriv --reuid=postgres --regid=postgres --clear-groups "$@"); }
  as "$pg/initdb" -D "$work/data" -A trust -U postgres --no-locale -E UTF8 >/dev/null
  as "$pg/pg_ctl" -D "$work/data" -w -o "-c listen_addresses='' -c unix_socket_directories='$work' -c fsync=off" -l "$work/log" start >/dev/null
  trap 'as "$pg/pg_ctl" -D "$work/data" -w -m immediate stop >/dev/null; rm -rf "$work"' ERR
  as psql -q -v ON_ERROR_STOP=1 -h "$work" -U postgres -f - <"$case/schema.sql"
  as "$pg/pg_ctl" -D "$work/data" -w -m fast stop >/dev/null
  rm -rf "$cache/db"
  mkdir -p "$cache/db"
  cp -a "$work/data" "$cache/db/data"
  rm -rf "$work"
  touch "$cache/db/done"
fi
