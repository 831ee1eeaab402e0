#!/bin/bash
# usage: start-db.sh PORT TMP TEMPLATE
set -euo pipefail
port=$1 tmp=$2 template=$3
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
as=()
if [ "$(id -u)" = 0 ]; then
  as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
  chown postgres: "$tmp"
  if ! "${as[@]}" test -x "$tmp" -a -w "$tmp"; then
    tmp=/tmp/nextjs-leaderboard-$port; rm -rf "$tmp"; mkdir -p "$tmp"; chown postgres: "$tmp"
  fi
fi
cp -r "$template/data" "$tmp/data"
chmod 700 "$tmp/data"
if [ "$(id -u)" = 0 ]; then chown -R postgres: "$tmp/data"; fi
cd /
# SIGTERM would make PostgreSQL wait for its clients to leave: hand it on as SIGINT ("fast"), as the Docker image does
exec "${as[@]}" bash -c '
  "$@" & pid=$!
  trap "kill -INT $pid" TERM INT
  while kill -0 $pid 2>/dev/null; do wait $pid || true; done' db \
  "$bin/postgres" -D "$tmp/data" -p "$port" -k "$tmp" -h 127.0.0.1 \
  -c max_connections=60 -c shared_buffers=128MB -c work_mem=16MB -c synchronous_commit=off \
  -c jit=off -c max_parallel_workers_per_gather=0 -c checkpoint_timeout=15min ${PG_EXTRA:-}
