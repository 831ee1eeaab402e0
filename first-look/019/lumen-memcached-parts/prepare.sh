#!/bin/sh
# Debian: nginx php8.2-fpm php8.2-opcache php8.2-sqlite3 php-memcached php-laravel-lumen-framework memcached
set -e
cache=$1 case=$2
test -f /usr/share/php/Laravel/Lumen/autoload.php
php -r 'exit(extension_loaded("memcached") && extension_loaded("pdo_sqlite") ? 0 : 1);'
[ -s "$cache/parts.sqlite" ] || python3 "$case/make-db.py" "$cache/parts.sqlite"
