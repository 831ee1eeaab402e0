#!/bin/sh
# prepare.sh CACHE CASE: the catalogue in SQLite, and a dump of the shared Redis with the jobs and sessions of the sites
set -eu
cache=$1 case=$2
for f in /usr/share/php/Horde/HashTable/Predis.php /usr/share/php/Horde/Routes/Mapper.php /usr/share/php/Predis/autoload.php \
    /usr/lib/apache2/modules/libphp8.2.so; do
    [ -e $f ] || { echo "apt-get install libapache2-mod-php8.2 php-sqlite3 php-horde-hashtable php-horde-routes php-nrk-predis" >&2; exit 1; }
done
php -m | grep -qx pdo_sqlite || { echo "apt-get install php-sqlite3" >&2; exit 1; }
if [ ! -e "$cache/catalog.db" ]; then
    rm -f "$cache/new.db"
    php "$case/make-db.php" "$cache/new.db"
    mv "$cache/new.db" "$cache/catalog.db"
fi
if [ ! -e "$cache/shared.rdb" ]; then
    rm -rf "$cache/redis" && mkdir -p "$cache/redis"
    sock="$cache/redis/redis.sock"
    redis-server --port 0 --unixsocket "$sock" --dir "$cache/redis" --save "" --appendonly no --enable-debug-command local \
        --dbfilename shared.rdb --daemonize yes --pidfile "$cache/redis/redis.pid" --logfile "$cache/redis/redis.log" >/dev/null
    for i in 1 2 3 4 5 6 7 8 9 10; do redis-cli -s "$sock" ping >/dev/null 2>&1 && break; sleep 0.2; done
    redis-cli -s "$sock" debug populate 450000 orangelight:session 60 >/dev/null
    redis-cli -s "$sock" debug populate 250000 figgy:job 60 >/dev/null
    redis-cli -s "$sock" debug populate 100000 website:cache_render 60 >/dev/null
    redis-cli -s "$sock" save >/dev/null
    redis-cli -s "$sock" shutdown nosave || true
    mv "$cache/redis/shared.rdb" "$cache/shared.rdb"
fi
