#!/bin/sh
# prepare.sh CACHE CASE: builds the server and the database template
set -e
cache=$1; case=$2
mkdir -p "$cache"
if [ ! -d "$cache/pg" ]; then
  bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
  work=$(mktemp -d)
  chmod 755 "$work"; mkdir "$work/pg"; chown postgres "$work/pg"
  setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/initdb" -A trust -U postgres -E UTF8 --locale=C -D "$work/pg" >/dev/null
  cp -a "$work/pg" "$cache/pg.new"
  mv "$cache/pg.new" "$cache/pg"
  rm -rf "$work"
fi
rm -rf "$cache/src"
mkdir "$cache/src"
cp "$case"/*.go "$case/go.mod" "$case/go.sum" "$cache/src/"
cd "$cache/src"
go build -p 1 -o "$cache/receipts" .
