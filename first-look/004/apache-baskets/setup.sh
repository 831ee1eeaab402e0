#!/bin/sh
set -e
cache=$1
for p in apache2 libapache2-mod-php8.2 php8.2-mysql mariadb-server; do
  dpkg -s $p >/dev/null 2>&1 || apt-get install -y -q --no-install-recommends $p
done
rm -rf "$cache/data"
mysql_install_db --no-defaults --user=root --datadir="$cache/data" --auth-root-authentication-method=normal --innodb-log-file-size=8M >"$cache/install.log" 2>&1
