#!/bin/sh
# prepare.sh CACHE CASE: build the site, and the Redis data as it is in production
set -e
cache="$1"; case="$2"
mkdir -p "$cache"
export ASTRO_TELEMETRY_DISABLED=1 CI=1
sum=$(cd "$case/site" && find . -type f | sort | xargs cat | md5sum)
if [ "$(cat "$cache/site.sum" 2>/dev/null)" != "$sum" ]; then
  mkdir -p "$cache/site"
  rm -rf "$cache/site/src" "$cache/site/dist"
  cp -r "$case/site/." "$cache/site/"
  cd "$cache/site"
  npm install --no-audit --no-fund --ignore-scripts
  npx astro build
  echo "$sum" > "$cache/site.sum"
fi
dsum=$(md5sum < "$case/data.py")
if [ "$(cat "$cache/data.sum" 2>/dev/null)" != "$dsum" ]; then
  python3 "$case/data.py" "$cache/dump.rdb"
  echo "$dsum" > "$cache/data.sum"
fi
