#!/bin/sh
# npm packages, `vite build`, database template
set -e
cache="$1"; case="$2"
mkdir -p "$cache/app" "$cache/shared"
cp -r "$case/app/." "$cache/app/"
cd "$cache/app"
export CI=1
[ -e node_modules/.done ] || { npm install --no-audit --no-fund; touch node_modules/.done; }
sum=$(find package.json *.js src -type f | sort | tr '\n' '\0' | xargs -0 cat | cksum | tr ' ' -)
if [ ! -e "build/.built-$sum" ]; then
  rm -rf build .svelte-kit
  npx vite build
  touch "build/.built-$sum"
fi
pgbin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
if [ ! -e "$cache/db/.done" ]; then
  rm -rf "$cache/db"; mkdir -p "$cache/db"
  t=$(mktemp -d /tmp/pgtemplate.XXXXXX)
  chown postgres "$t"
  cp "$case/schema.sql" "$t/schema.sql"; chmod 644 "$t/schema.sql"
  cd "$t"
  run() { setpriv --reuid=postgres --regid=postgres --clear-groups env HOME="$t" "$@"; }
  run "$pgbin/initdb" -D "$t/data" -U postgres -A trust -E UTF8 --locale=C >/dev/null
  { echo "CREATE DATABASE auction;"; } | run "$pgbin/postgres" --single -D "$t/data" postgres >/dev/null
  tr '\n' ' ' < "$t/schema.sql" | sed 's/; /;\n/g' | run "$pgbin/postgres" --single -D "$t/data" auction >/dev/null
  cp -a "$t/data" "$cache/db/data"
  cd /; rm -rf "$t"
  touch "$cache/db/.done"
fi
