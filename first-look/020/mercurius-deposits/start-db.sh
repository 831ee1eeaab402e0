#!/bin/sh
# start-db.sh PORT TMP CACHE
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
as="setpriv --reuid=postgres --regid=postgres --clear-groups"
dir="$2"
chown postgres "$dir"
# where the directories above are closed for other users
$as test -x "$dir" 2>/dev/null || { dir=/tmp/campdb-run; rm -rf "$dir"; mkdir "$dir"; chown postgres "$dir"; }
tar -C "$dir" -xf "$3/db.tar"
chown -R postgres "$dir"
cd "$dir"
# SIGTERM would let postgres wait for its clients to go: hand it on as SIGINT (fast shutdown)
exec perl -e '
  my $pid = fork // die; if (!$pid) { exec @ARGV or die }
  $SIG{TERM} = $SIG{INT} = sub { kill INT => $pid };
  1 while waitpid($pid, 0) < 0 && $!{EINTR};
' setpriv --reuid=postgres --regid=postgres --clear-groups --pdeathsig INT \
  "$bin/postgres" -D "$dir/data" -p "$1" -k '' -c listen_addresses=127.0.0.1 -c max_connections=60 \
  -c shared_buffers=32MB -c fsync=off -c synchronous_commit=off -c autovacuum=off -c jit=off -c logging_collector=off
