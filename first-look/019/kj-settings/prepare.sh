#!/bin/sh
# prepare.sh CACHE CASE: server, virtual environment and database template
set -eu
cache=$1
case=$2
mkdir -p "$cache/shared"
g++ -std=c++17 -O2 -g -pthread -I"$(pg_config --includedir)" -o "$cache/settings" "$case/main.cpp" \
    $(pkg-config --cflags --libs kj-http kj-async kj) -lpq
[ -x "$cache/venv/bin/python" ] || python3 -m venv "$cache/venv"
"$cache/venv/bin/pip" install -q psycopg2-binary==2.9.10
[ -s "$cache/template.tar" ] && exit 0
. "$case/pg.sh"
db=
dir=$(data_dir)
trap '[ -z "$db" ] || { kill -INT "$db" 2>/dev/null && wait "$db"; }; rm -rf "$dir"' EXIT
own "$dir"
cd /
$as_pg "$pgbin/initdb" -U postgres -A trust -E UTF8 --locale=C.UTF-8 -D "$dir/data" > /dev/null
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
$as_pg "$pgbin/postgres" -D "$dir/data" -c port="$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= &
db=$!
until psql -h 127.0.0.1 -p "$port" -U postgres -qc 'create database settings' 2>/dev/null; do sleep 0.3; done
psql -h 127.0.0.1 -p "$port" -U postgres -q -v ON_ERROR_STOP=1 -f "$case/schema.sql" settings
psql -h 127.0.0.1 -p "$port" -U postgres -q -c 'vacuum analyze' settings
kill -INT "$db"
wait "$db" || true
db=
tar -C "$dir" -cf "$cache/template.new" data
mv "$cache/template.new" "$cache/template.tar"
