#!/bin/sh
# start-db.sh PORT TMP TEMPLATE COMMIT_DELAY COMMIT_SIBLINGS
# The data directory lies in memory (/dev/shm), so that the disk's fsync plays no part.
set -e
port=$1; template=$3
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
for old in /dev/shm/receipts-pg.*; do
  [ -d "$old" ] || continue
  pid=$(head -1 "$old/pg/postmaster.pid" 2>/dev/null || true)
  [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null && continue
  rm -rf "$old"
done
data=$(mktemp -d /dev/shm/receipts-pg.XXXXXX)
chmod 755 "$data"
cp -a "$template" "$data/pg"
chmod 700 "$data/pg"
chown -R postgres "$data/pg"
cd /
exec setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/postgres" -D "$data/pg" \
  -c listen_addresses=127.0.0.1 -c port="$port" -c unix_socket_directories= \
  -c commit_delay="$4" -c commit_siblings="$5" \
  -c autovacuum=off -c checkpoint_timeout=30min -c max_wal_size=1GB
