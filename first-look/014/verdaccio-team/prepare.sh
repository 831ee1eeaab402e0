#!/bin/sh
# prepare.sh CACHE CASE: installs the pinned packages of the lock file
set -e
mkdir -p "$1/app"
cp "$2/package.json" "$2/package-lock.json" "$1/app/"
cd "$1/app"
npm ci --omit=dev --no-audit --no-fund --loglevel=error --ignore-scripts
