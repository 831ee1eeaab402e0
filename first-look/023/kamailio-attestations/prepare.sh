#!/bin/sh
# prepare.sh CACHE CASE: virtual environment of the log signer and an empty MariaDB data directory
set -eu
cache=$1
if [ ! -e "$cache/venv/.complete" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q --disable-pip-version-check "PyMySQL==1.1.1"
    touch "$cache/venv/.complete"
fi
if [ ! -e "$cache/db.complete" ]; then
    rm -rf "$cache/db"
    mkdir -p "$cache/db"
    mariadb-install-db --no-defaults --user=root --datadir="$cache/db" --skip-test-db \
        --auth-root-authentication-method=normal --innodb-log-file-size=16M >"$cache/install-db.log" 2>&1
    touch "$cache/db.complete"
fi
