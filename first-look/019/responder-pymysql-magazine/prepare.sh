#!/bin/sh
# Debian: mariadb-server
set -e
cache=$1 case=$2
if [ ! -f "$cache/venv/done" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q 'responder==9.2.0' 'pymysql==1.1.1' 'sqlalchemy==2.0.35'
    touch "$cache/venv/done"
fi
if [ ! -f "$cache/db/done" ]; then
    rm -rf "$cache/db"
    mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$cache/db" --auth-root-authentication-method=normal \
        --skip-test-db --innodb-log-file-size=8M >/dev/null
    python3 "$case/make-sql.py" > "$cache/magazine.sql"
    mariadbd --no-defaults --user="$(id -un)" --datadir="$cache/db" --innodb-log-file-size=8M --bootstrap < "$cache/magazine.sql"
    touch "$cache/db/done"
fi
