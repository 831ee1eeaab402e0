#!/bin/sh
# prepare.sh CACHE CASE: builds the server and a database template into CACHE
set -e
cache=$1
mkdir -p "$cache"
cd "$2"
go build -o "$cache/lockers" .
[ -e "$cache/db.done" ] && exit 0
rm -rf "$cache/db"
mariadb-install-db --no-defaults --user=root --datadir="$cache/db" \
    --auth-root-authentication-method=normal --skip-test-db \
    --innodb-log-file-size=8M >/dev/null
# mariadbd reads SQL from its bootstrap input, one statement a line
PATH=$PATH:/usr/sbin
{
    echo "CREATE DATABASE lockers;"
    echo "USE lockers;"
    echo "CREATE TABLE site (id BIGINT PRIMARY KEY, name VARCHAR(60) NOT NULL, street VARCHAR(60) NOT NULL) ENGINE=InnoDB;"
    echo "CREATE TABLE locker (id BIGINT PRIMARY KEY, site_id BIGINT NOT NULL, label VARCHAR(20) NOT NULL, doors INT NOT NULL, free INT NOT NULL, last_seen BIGINT NOT NULL, KEY (site_id)) ENGINE=InnoDB;"
    echo "CREATE TABLE sighting (id BIGINT AUTO_INCREMENT PRIMARY KEY, locker_id BIGINT NOT NULL, at BIGINT NOT NULL, scan BIGINT NOT NULL) ENGINE=InnoDB;"
    i=1
    while [ $i -le 8 ]; do
        echo "INSERT INTO site VALUES ($i, 'Station $i', 'Kirkegata $((i * 7))');"
        i=$((i + 1))
    done
    i=1
    while [ $i -le 40 ]; do
        echo "INSERT INTO locker VALUES ($i, $((i % 8 + 1)), 'L-$i', 24, $((i % 24)), 0);"
        i=$((i + 1))
    done
} >"$cache/fill.sql"
mariadbd --no-defaults --user=root --datadir="$cache/db" --bootstrap --innodb-log-file-size=8M <"$cache/fill.sql" >"$cache/fill.log" 2>&1
touch "$cache/db.done"
