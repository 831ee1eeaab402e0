#!/bin/sh
# prepare.sh CACHE CASE
set -e
cache=$1; case=$2
mkdir -p "$cache"
if [ ! -e "$cache/venv.ok" ]; then
  python3 -m venv "$cache/venv"
  "$cache/venv/bin/pip" -q install aiosmtpd==1.4.6
  touch "$cache/venv.ok"
fi
rm -rf "$cache/app/src" "$cache/app/config"
mkdir -p "$cache/app"
cp -r "$case/src" "$case/config" "$case/package.json" "$case/tsconfig.json" "$cache/app/"
cd "$cache/app"
[ -e "$cache/npm.ok" ] || { npm install --no-audit --no-fund --loglevel=error && touch "$cache/npm.ok"; }
npx tsc -p .
