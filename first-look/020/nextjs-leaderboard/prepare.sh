#!/bin/bash
# usage: prepare.sh CACHE CASE - repeatable
set -euo pipefail
cache=$1 case=$2
export NEXT_TELEMETRY_DISABLED=1 CI=1
mkdir -p "$cache"
sum=$(cd "$case" && find . -type f \( -path "./app/*" -o -path "./lib/*" -o -path "./jobs/*" -o -name "package*.json" -o -name next.config.mjs \) -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -c1-64)
if [ "$(cat "$cache/app/.built" 2>/dev/null || true)" != "$sum" ]; then
  mkdir -p "$cache/app"
  (cd "$cache/app" && rm -rf app lib jobs .next .built)
  cp -r "$case/app" "$case/lib" "$case/jobs" "$case/package.json" "$case/next.config.mjs" "$cache/app/"
  cd "$cache/app"
  if [ -e "$case/package-lock.json" ]; then cp "$case/package-lock.json" . && npm ci --no-audit --no-fund </dev/null
  else npm install --no-audit --no-fund </dev/null; fi
  npx next build </dev/null
  echo "$sum" > .built
fi
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
sum=$(sha256sum "$case/schema.sql" | cut -c1-64)
if [ "$(cat "$cache/db/.built" 2>/dev/null || true)" != "$sum" ]; then
  rm -rf "$cache/db"; mkdir -p "$cache/db"
  work=$(mktemp -d /tmp/nextjs-leaderboard.XXXXXX)
  cp "$case/schema.sql" "$work/"; chmod 644 "$work/schema.sql"
  as=()
  if [ "$(id -u)" = 0 ]; then chown -R postgres: "$work"; as=(setpriv --reuid=postgres --regid=postgres --clear-groups); fi
  cd "$work"
  "${as[@]}" "$bin/initdb" -D "$work/data" -U postgres -A trust -E UTF8 --locale=C >/dev/null
  "${as[@]}" "$bin/pg_ctl" -D "$work/data" -w -o "-k $work -c listen_addresses= -c fsync=off" -l "$work/log" start >/dev/null
  "${as[@]}" "$bin/createdb" -h "$work" -U postgres game
  "${as[@]}" "$bin/psql" -q -h "$work" -U postgres -d game -v ON_ERROR_STOP=1 -f "$work/schema.sql"
  "${as[@]}" "$bin/pg_ctl" -D "$work/data" -w -m fast stop >/dev/null
  cp -r "$work/data" "$cache/db/data"
  cd /; rm -rf "$work"
  echo "$sum" > "$cache/db/.built"
fi
