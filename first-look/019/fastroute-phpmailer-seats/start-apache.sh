#!/bin/sh
# start-apache.sh PORT TMP CASE: Apache prefork with mod_php in the foreground
set -e
port=$1 tmp=$2 case=$3
# the workers run as www-data: the code lies where they may read it
www=/tmp/fastroute-phpmailer-seats-www
rm -rf "$www"
mkdir -m 755 "$www"
cp "$case"/www/*.php "$www"/
chmod 644 "$www"/*.php
mods=/usr/lib/apache2/modules
cat > "$tmp/apache.conf" <<CONF
ServerName 127.0.0.1
ServerRoot $tmp
PidFile $tmp/apache.pid
DefaultRuntimeDir $tmp
Mutex pthread
Listen 127.0.0.1:$port
LoadModule mpm_prefork_module $mods/mod_mpm_prefork.so
LoadModule authz_core_module $mods/mod_authz_core.so
LoadModule dir_module $mods/mod_dir.so
LoadModule env_module $mods/mod_env.so
LoadModule mime_module $mods/mod_mime.so
LoadModule php_module $mods/libphp8.2.so
TypesConfig /etc/mime.types
User www-data
Group www-data
ErrorLog $tmp/error.log
LogLevel warn
StartServers 40
MinSpareServers 4
MaxSpareServers 48
ServerLimit 48
MaxRequestWorkers 48
MaxConnectionsPerChild 0
KeepAlive On
KeepAliveTimeout 60
MaxKeepAliveRequests 0
PassEnv REDIS_PORT SMTP_PORT SMTP_NODELAY
${TIMING_LOG:+PassEnv TIMING_LOG}
DocumentRoot $www
<Directory $www>
    Require all granted
    FallbackResource /index.php
</Directory>
<FilesMatch "\.php$">
    SetHandler application/x-httpd-php
</FilesMatch>
php_admin_flag display_errors off
php_admin_flag log_errors on
CONF
exec /usr/sbin/apache2 -f "$tmp/apache.conf" -DFOREGROUND
