#!/bin/sh
# ADOdb, FPM, nginx and MariaDB come as Debian packages; the database template is made once
set -e
cache=$1 case=$2
command -v php-fpm8.2 >/dev/null && command -v mariadbd >/dev/null && [ -e /usr/share/php/adodb/adodb.inc.php ] \
  && [ -e /etc/php/8.2/mods-available/mysqli.ini ] || {
  apt-get install -y --no-install-recommends nginx php8.2-fpm php8.2-cli php8.2-mysql libphp-adodb mariadb-server mariadb-client
}
[ -e "$cache/db/done" ] && exit 0
rm -rf "$cache/db" && mkdir -p "$cache/db"
mariadb-install-db --no-defaults --user=root --datadir="$cache/db/data" --auth-root-authentication-method=normal \
  --skip-test-db >"$cache/db/install.log" 2>&1
mariadbd --no-defaults --user=root --bootstrap --datadir="$cache/db/data" --innodb-log-file-size=16M \
  <"$case/schema.sql" >>"$cache/db/install.log" 2>&1
touch "$cache/db/done"
