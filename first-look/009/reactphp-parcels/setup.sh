#!/bin/sh
# react/http from the Debian package (no Composer needed) and a MariaDB data folder
set -e
here=$(cd "$(dirname "$0")" && pwd); cache=$1
mkdir -p "$cache" && cd "$cache"
rm -rf php data ./*.deb
apt-get download icingaweb2-module-reactbundle
dpkg -x icingaweb2-module-reactbundle_*.deb php
mysql_install_db --no-defaults --user=root --datadir="$cache/data" --auth-root-authentication-method=normal --innodb-log-file-size=16M >/dev/null
mysqld --no-defaults --user=root --datadir="$cache/data" --innodb-log-file-size=16M --bootstrap < "$here/schema.sql"
