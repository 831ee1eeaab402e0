#!/bin/sh
# prepare.sh CACHE CASE: npm packages and the database's template
set -e
cache="$1"; case="$2"
mkdir -p "$cache/app"
if ! cmp -s "$case/package.json" "$cache/app/package.json"; then
  cp "$case/package.json" "$cache/app/package.json.new"
  (cd "$cache/app" && cp package.json.new package.json && npm install --no-audit --no-fund --omit=dev --ignore-scripts) || { rm -f "$cache/app/package.json"; exit 1; }
fi
cp "$case"/*.mjs "$cache/app/"
sum=$(md5sum < "$case/schema.sql")
[ -f "$cache/db.tar" ] && [ "$(cat "$cache/db.sum" 2>/dev/null)" = "$sum" ] && exit 0
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
work=$(mktemp -d /tmp/campdb.XXXXXX)
chown postgres "$work"
as="setpriv --reuid=postgres --regid=postgres --clear-groups"
cd "$work"
$as "$bin/initdb" -D "$work/data" -U camp -A trust -E UTF8 --locale=C --no-sync >/dev/null
$as "$bin/pg_ctl" -D "$work/data" -w -o "-c listen_addresses='' -c fsync=off -k $work" -l "$work/log" start >/dev/null
psql -q -v ON_ERROR_STOP=1 -h "$work" -U camp postgres -f "$case/schema.sql"
$as "$bin/pg_ctl" -D "$work/data" -w -m fast stop >/dev/null
tar -C "$work" -cf "$cache/db.tar.new" data && mv "$cache/db.tar.new" "$cache/db.tar"
echo "$sum" > "$cache/db.sum"
rm -rf "$work"
