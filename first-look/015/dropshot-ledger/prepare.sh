#!/bin/sh
# prepare.sh CACHE CASE: builds the server and a database template
set -e
cache=$1; case=$2
mkdir -p "$cache"
CARGO_TARGET_DIR="$cache/target" cargo build --release --manifest-path "$case/Cargo.toml"
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
if [ ! -f "$cache/db/.done" ]; then
  rm -rf "$cache/db"; mkdir -p "$cache/db"
  me=$(id -un); run=""
  if [ "$(id -u)" = 0 ]; then
    # the template is made in a place that the user postgres can reach
    work=$(mktemp -d /tmp/ledger-db.XXXXXX); chown postgres "$work"; run="setpriv --reuid=postgres --regid=postgres --init-groups"
  else work=$(mktemp -d); fi
  cd "$work"
  $run "$bin/initdb" -D "$work/data" -A trust -U ledger --no-locale -E UTF8 >/dev/null
  $run "$bin/postgres" --single -D "$work/data" postgres >/dev/null <<'SQL'
CREATE DATABASE ledger;
SQL
  $run "$bin/postgres" --single -j -D "$work/data" ledger >/dev/null < "$case/schema.sql"
  cp -a "$work/data" "$cache/db/data"; rm -rf "$work"; touch "$cache/db/.done"
fi
