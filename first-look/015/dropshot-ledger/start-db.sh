#!/bin/sh
# start-db.sh PORT TMP TEMPLATE COMMIT_DELAY
port=$1; tmp=$2; template=$3; delay=$4
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
run=""
dir="$tmp/pg"
if [ "$(id -u)" = 0 ]; then
  run="setpriv --reuid=postgres --regid=postgres --init-groups"
fi
mkdir -p "$dir"
if [ -n "$run" ]; then
  chown postgres "$dir"
  # a directory below root's own cannot be reached by the user postgres
  # (and what earlier runs left there goes, unless its server still lives)
  for old in /tmp/ledger-run.*; do
    [ -f "$old/data/PG_VERSION" ] && [ ! -f "$old/data/postmaster.pid" ] && rm -rf "$old"
  done
  $run test -w "$dir" || { dir=$(mktemp -d /tmp/ledger-run.XXXXXX); chown postgres "$dir"; }
fi
cp -a "$template/data" "$dir/data"
chmod 700 "$dir/data"
[ -n "$run" ] && chown -R postgres "$dir"
cd "$dir"
exec $run "$bin/postgres" -D "$dir/data" -p "$port" -c listen_addresses=127.0.0.1 \
  -c unix_socket_directories="" -c max_connections=60 -c shared_buffers=64MB \
  -c checkpoint_timeout=30min -c autovacuum=off \
  -c commit_siblings=1 -c commit_delay="$delay"
