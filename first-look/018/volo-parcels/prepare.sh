#!/bin/sh
# prepare.sh CACHE CASE: compile the server and the manifest service, make the database template
set -e
cache=$1; case=$2
mkdir -p "$cache"
mkdir -p "$cache/src"
cp -r "$case/server/." "$cache/src/"
(cd "$cache/src" && CARGO_TARGET_DIR="$cache/target" cargo build --release --locked)
if [ -e "$cache/db/ready" ]; then exit 0; fi
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
rm -rf "$cache/db"; mkdir -p "$cache/db"
work=$(mktemp -d /tmp/parcels-init.XXXXXX)
as=""
if [ "$(id -u)" = 0 ]; then chown postgres "$work"; as="setpriv --reuid=postgres --regid=postgres --clear-groups"; fi
cd "$work"
$as "$bin/initdb" -D "$work/data" -U postgres -A trust --locale=C -E UTF8 >/dev/null
$as "$bin/pg_ctl" -D "$work/data" -w -o "-c listen_addresses='' -k $work" -l "$work/log" start >/dev/null
psql -q -h "$work" -U postgres postgres -c "CREATE DATABASE parcels"
psql -q -h "$work" -U postgres parcels -v ON_ERROR_STOP=1 <<'S'
CREATE TABLE depots (id int PRIMARY KEY, name text);
INSERT INTO depots SELECT n, 'depot ' || n FROM generate_series(1, 20) n;
CREATE TABLE parcels (id int PRIMARY KEY, state text, depot int, scans int NOT NULL DEFAULT 0);
INSERT INTO parcels SELECT n, 'announced', 1 + n % 20, 0 FROM generate_series(1, 4000) n;
CREATE INDEX parcels_depot ON parcels (depot);
CREATE TABLE scans (id bigserial PRIMARY KEY, parcel int, depot int, event text, device bigint, at timestamptz DEFAULT now());
CREATE TABLE manifest_lines (carrier int, line int, text text);
VACUUM ANALYZE;
S
$as "$bin/pg_ctl" -D "$work/data" -w -m fast stop >/dev/null
cp -r "$work/data" "$cache/db/data"
rm -rf "$work"
touch "$cache/db/ready"
