#!/bin/sh
# prepare.sh CACHE CASE: installs the pinned packages and fills a database
set -e
mkdir -p "$1/app"
cp "$2/package.json" "$2/package-lock.json" "$2/server.js" "$1/app/"
(cd "$1/app" && npm ci --omit=dev --no-audit --no-fund --loglevel=error)

pg=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
as() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; else "$@"; fi; }
work=$(mktemp -d)
[ "$(id -u)" = 0 ] && chown postgres "$work"
cd "$work"
as "$pg/initdb" -D "$work/db" -U postgres -A trust -E UTF8 --locale=C >/dev/null
as "$pg/postgres" --single -D "$work/db" postgres >/dev/null <<'EOF'
CREATE DATABASE cinema
EOF
as "$pg/postgres" --single -D "$work/db" cinema >/dev/null <<'EOF'
CREATE TABLE shows (id int PRIMARY KEY, film text NOT NULL, hall int NOT NULL, starts timestamptz NOT NULL)
CREATE TABLE seats (show_id int NOT NULL, "row" int NOT NULL, seat int NOT NULL, taken boolean NOT NULL, PRIMARY KEY (show_id, "row", seat))
CREATE TABLE accounts (region int PRIMARY KEY, due int NOT NULL, paid bigint NOT NULL, last_payment text)
INSERT INTO shows SELECT i, 'Film ' || i % 90, i % 12, timestamptz '2025-01-01 10:00+00' + i * interval '20 minutes' FROM generate_series(1, 3000) i
INSERT INTO seats SELECT i, r, s, (i + r * s) % 3 = 0 FROM generate_series(1, 3000) i, generate_series(1, 5) r, generate_series(1, 8) s
INSERT INTO accounts SELECT i, 1200 * i, 0, NULL FROM generate_series(1, 4) i
VACUUM ANALYZE
EOF
rm -rf "$1/db"
cp -r "$work/db" "$1/db"
rm -rf "$work"
