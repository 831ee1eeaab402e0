#!/bin/sh
# prepare.sh CACHE CASE: virtual environment and a template of the database
set -e
cache=$1 case_dir=$2
pg=/usr/lib/postgresql/15/bin
mkdir -p "$cache"
if [ ! -e "$cache/venv/done" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q -r "$case_dir/requirements.txt"
    touch "$cache/venv/done"
fi
[ ! -e "$cache/db.done" ] || exit 0
work=$(mktemp -d /tmp/kinto-preferences.XXXXXX)
chown postgres:postgres "$work"
cd /
as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
as $pg/initdb -D "$work/db" -A trust -U postgres --no-sync -E UTF8 --locale=C >/dev/null
port=$("$cache/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
web=$("$cache/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
as $pg/pg_ctl -D "$work/db" -w -s -l "$work/log" -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off" start
psql -q -h 127.0.0.1 -p "$port" -U postgres -c "CREATE ROLE kinto LOGIN SUPERUSER" -c "CREATE DATABASE kinto OWNER kinto"
psql -q -h 127.0.0.1 -p "$port" -U kinto -d kinto -c "CREATE TABLE roster (page int, employee int, shift text, seen timestamptz DEFAULT now())"
mkdir -p "$work/web"
sed -e "s|%(http_port)s|$web|; s|%(db_url)s|postgresql://kinto@127.0.0.1:$port/kinto|" "$case_dir/kinto.ini" > "$work/web/kinto.ini"
"$cache/venv/bin/kinto" migrate --ini "$work/web/kinto.ini" >/dev/null 2>&1
"$cache/venv/bin/kinto" start --ini "$work/web/kinto.ini" >"$work/web/log" 2>&1 &
server=$!
"$cache/venv/bin/python" "$case_dir/seed.py" "$web"
kill $server
wait $server || true
psql -q -h 127.0.0.1 -p "$port" -U kinto -d kinto -c "VACUUM ANALYZE" -c "CHECKPOINT"
as $pg/pg_ctl -D "$work/db" -w -s -m fast stop
rm -rf "$cache/db"
cp -a "$work/db" "$cache/db"
rm -rf "$work"
touch "$cache/db.done"
