#!/bin/sh
# prepare.sh CACHE CASE: virtual environment and an empty MariaDB data directory
set -eu
cache=$1
if [ ! -e "$cache/venv/.complete" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q --disable-pip-version-check \
        "pycnic==0.1.9" "gunicorn==23.0.0" "SQLAlchemy==2.0.36" "PyMySQL==1.1.1"
    touch "$cache/venv/.complete"
fi
if [ ! -e "$cache/db.complete" ]; then
    rm -rf "$cache/db"
    mkdir -p "$cache/db"
    mariadb-install-db --no-defaults --user=root --datadir="$cache/db" --skip-test-db \
        --auth-root-authentication-method=normal --innodb-log-file-size=16M >"$cache/install-db.log" 2>&1
    touch "$cache/db.complete"
fi
