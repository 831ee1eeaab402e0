#!/bin/sh
# start.sh CASE: Apache with mod_php, and the import of price lists beside it
set -e
# the database lies in memory, so that the disk of the machine does not matter
if [ -w /dev/shm ]; then dir=$(mktemp -d -p /dev/shm); else dir=$(mktemp -d); fi
chmod 755 "$dir"
cp -r "$1/shop" "$dir/shop"
cd "$dir"
php shop/database/seed.php
php shop/cache-config.php
chown -R www-data:www-data shop
cat > httpd.conf <<C
ServerRoot $dir
ServerName 127.0.0.1
Listen 127.0.0.1:$PORT
PidFile $dir/httpd.pid
ErrorLog /dev/stderr
LogLevel warn
User www-data
Group www-data
LoadModule mpm_prefork_module /usr/lib/apache2/modules/mod_mpm_prefork.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
LoadModule php_module /usr/lib/apache2/modules/libphp8.2.so
StartServers 40
MinSpareServers 1
MaxSpareServers 60
MaxRequestWorkers 60
MaxConnectionsPerChild 0
KeepAlive On
KeepAliveTimeout 30
MaxKeepAliveRequests 0
DocumentRoot $dir/shop/public
FallbackResource /index.php
<FilesMatch "\.php$">
    SetHandler application/x-httpd-php
</FilesMatch>
php_admin_value include_path /usr/share/php
php_admin_flag opcache.validate_timestamps off
php_admin_value realpath_cache_ttl 3600
php_admin_flag display_errors off
C
setpriv --pdeathsig TERM --reuid www-data --regid www-data --clear-groups \
  php shop/import.php &
exec /usr/sbin/apache2 -DFOREGROUND -f "$dir/httpd.conf"
