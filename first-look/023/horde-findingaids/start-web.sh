#!/bin/sh
# start-web.sh PORT TMP CACHE: Apache (prefork) with mod_php; the application and its database are laid out in TMP,
# as soon as Redis has loaded its keys
set -eu
here=$(cd "$(dirname "$0")" && pwd)
chmod 755 "$2"
until [ "$(redis-cli -p "$REDIS_PORT" ping 2>/dev/null)" = PONG ]; do sleep 0.2; done
mkdir -p "$2/htdocs"
cp "$here/index.php" "$2/htdocs/index.php"
cp "$3/catalog.db" "$2/catalog.db"
chmod 644 "$2/catalog.db" "$2/htdocs/index.php"
export WEB_PORT="$1" WEB_TMP="$2" WEB_ROOT="$2/htdocs" CATALOG_DB="$2/catalog.db"
if setpriv --reuid=www-data --regid=www-data --clear-groups test -r "$2/htdocs/index.php"; then
    exec apache2 -f "$here/httpd.conf" -DFOREGROUND
fi
# a folder above TMP is closed to www-data: its number, with the rights of who started this
exec unshare --user --map-user="$(id -u www-data)" --map-group="$(id -g www-data)" apache2 -f "$here/httpd.conf" -DFOREGROUND
