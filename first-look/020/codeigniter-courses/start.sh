#!/bin/bash
# start.sh PORT CACHE CASE GC_PROBABILITY: Apache (prefork) with mod_php on a copy of the site in memory
port=$1; cache=$2; here=$3; probability=$4
base=/dev/shm/codeigniter-courses-$(echo "$cache" | md5sum | cut -c1-8)
rm -rf "$base"; mkdir -m 755 "$base"
cp -r "$cache/framework" "$base/site"
cp -r "$here/app/." "$base/site/app/"
cp "$cache/courses.db" "$base/courses.db"
mkdir -p "$base/site/writable/session" "$base/site/writable/cache" "$base/site/writable/logs"
php -n "$here/sessions.php" "$base/site/writable/session" 15000
chmod -R a+rX "$base"
chown -R www-data "$base/site/writable"
mods=/usr/lib/apache2/modules
cat >"$base/httpd.conf" <<C
ServerRoot $base
ServerName localhost
Listen 127.0.0.1:$port
PidFile $base/httpd.pid
DefaultRuntimeDir $base
ErrorLog /dev/stderr
LogLevel crit
User www-data
Group www-data
LoadModule mpm_prefork_module $mods/mod_mpm_prefork.so
LoadModule authz_core_module $mods/mod_authz_core.so
LoadModule dir_module $mods/mod_dir.so
LoadModule env_module $mods/mod_env.so
LoadModule rewrite_module $mods/mod_rewrite.so
LoadModule php_module $mods/libphp8.2.so
StartServers 40
MinSpareServers 1
MaxSpareServers 48
ServerLimit 48
MaxRequestWorkers 48
MaxConnectionsPerChild 0
KeepAlive On
KeepAliveTimeout 60
MaxKeepAliveRequests 0
DocumentRoot $base/site/public
SetEnv CI_ENVIRONMENT production
SetEnv COURSES_DB $base/courses.db
<FilesMatch "\.php$">
    SetHandler application/x-httpd-php
</FilesMatch>
<Directory $base/site/public>
    AllowOverride None
    Require all granted
    RewriteEngine On
    RewriteCond %{REQUEST_FILENAME} !-f
    RewriteRule ^ index.php [L]
</Directory>
php_admin_value opcache.validate_timestamps 0
php_admin_value session.sid_length 40
php_admin_value session.sid_bits_per_character 4
php_admin_value session.gc_probability $probability
php_admin_value session.gc_divisor 10
C
exec apache2 -f "$base/httpd.conf" -DFOREGROUND
