#!/bin/sh
# $1 = cache, $2 = case: builds the server and a template of the database
set -e
mkdir -p "$1/build"
rm -rf "$1/build/src"
cp -r "$2/pom.xml" "$2/src" "$1/build/"
(cd "$1/build" && mvn -q -B package)
rm -rf "$1/db" "$1/run"
mkdir -p "$1/run"
mariadb-install-db --no-defaults --user=root --datadir="$1/db" --auth-root-authentication-method=normal --skip-test-db >"$1/install.log" 2>&1
mariadbd --no-defaults --user=root --datadir="$1/db" --skip-networking --socket="$1/run/t.sock" --pid-file="$1/run/t.pid" >"$1/template.log" 2>&1 &
pid=$!
n=0
until mariadb --no-defaults -uroot -S "$1/run/t.sock" -e "select 1" >/dev/null 2>&1; do
  n=$((n+1)); [ $n -lt 300 ] || exit 1; sleep 0.2
done
mariadb --no-defaults -uroot -S "$1/run/t.sock" <"$2/schema.sql"
kill $pid
wait $pid || true
