#!/bin/sh
# prepare.sh CACHE CASE: virtual environment and an empty MariaDB data directory
set -eu
cache=$1
if [ ! -e "$cache/venv/.complete" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q --disable-pip-version-check \
        "Flask==3.0.3" "Werkzeug==3.0.6" "Flask-RESTful==0.3.10" "mysql-connector-python==9.1.0" "gunicorn==23.0.0"
    touch "$cache/venv/.complete"
fi
if [ ! -e "$cache/db.complete" ]; then
    rm -rf "$cache/db"
    mkdir -p "$cache/db"
    mariadb-install-db --no-defaults --user=root --datadir="$cache/db" --skip-test-db \
        --auth-root-authentication-method=normal --innodb-log-file-size=16M >"$cache/install-db.log" 2>&1
    touch "$cache/db.complete"
fi
