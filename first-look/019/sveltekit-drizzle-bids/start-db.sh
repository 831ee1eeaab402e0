#!/bin/sh
# first service: makes the shared folder new (the import finds the database's port there), then PostgreSQL on a copy of
# the template
set -e
port="$1"; tmp="$2"; cache="$3"; delay="$4"
rm -rf "$cache/shared"; mkdir -p "$cache/shared"
echo "$port" > "$cache/shared/db.port"
pgbin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
chown postgres "$tmp"
# where postgres may not go through the folders above: a folder of its own
setpriv --reuid=postgres --regid=postgres --clear-groups test -w "$tmp" || { tmp=$(mktemp -d /tmp/pgdata.XXXXXX); chown postgres "$tmp"; }
cp -a "$cache/db/data" "$tmp/data"
chown -R postgres "$tmp/data"; chmod 700 "$tmp/data"
cd "$tmp"
exec setpriv --reuid=postgres --regid=postgres --clear-groups "$pgbin/postgres" -D "$tmp/data" -p "$port" \
  -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=60 -c shared_buffers=64MB \
  -c checkpoint_timeout=30min -c max_wal_size=2GB -c autovacuum=off -c jit=off \
  -c commit_delay="$delay"
