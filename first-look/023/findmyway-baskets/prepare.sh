#!/bin/sh
# prepare.sh CACHE CASE: the service with Prisma's generated client, and an empty MariaDB data directory
set -eu
cache=$1
case=$2
mkdir -p "$cache/app"
cp -R "$case/app/." "$cache/app/"
cd "$cache/app"
# Prisma's engine for migrations is fetched from outside the registry and not needed here
npm ci --ignore-scripts --no-audit --no-fund
PRISMA_SCHEMA_ENGINE_BINARY=/bin/true CHECKPOINT_DISABLE=1 npx prisma generate
if [ ! -e "$cache/db.complete" ]; then
    rm -rf "$cache/db"
    mkdir -p "$cache/db"
    mariadb-install-db --no-defaults --user=root --datadir="$cache/db" --skip-test-db \
        --auth-root-authentication-method=normal --innodb-log-file-size=16M >"$cache/install-db.log" 2>&1
    touch "$cache/db.complete"
fi
