#!/bin/sh
# start-web.sh PORT TMP MEMCACHED_PORT NODELAY DB
# NODELAY: 1 sets Memcached::OPT_TCP_NODELAY beside the binary protocol
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2/site"
chmod 711 "$2"
cp -R "$here/htdocs" "$here/cache.php" "$2/site/"
cp "$5" "$2/site/glossary.db"
chmod -R a+rX "$2/site"
cat >"$2/apache.conf" <<C
ServerRoot "$2"
ServerName 127.0.0.1
Listen 127.0.0.1:$1
PidFile "$2/apache.pid"
Mutex posixsem
LoadModule mpm_prefork_module /usr/lib/apache2/modules/mod_mpm_prefork.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
LoadModule env_module /usr/lib/apache2/modules/mod_env.so
LoadModule php_module /usr/lib/apache2/modules/libphp8.2.so
TypesConfig /etc/mime.types
User www-data
Group www-data
StartServers 24
MinSpareServers 24
MaxSpareServers 48
MaxRequestWorkers 48
KeepAlive On
KeepAliveTimeout 60
MaxKeepAliveRequests 0
Timeout 30
LogLevel warn
ErrorLog "/dev/stderr"
PassEnv MEMCACHED_PORT MEMCACHED_NODELAY GLOSSARY_DB
DocumentRoot "$2/site/htdocs"
<Directory "$2/site/htdocs">
    Require all granted
    FallbackResource /index.php
</Directory>
<FilesMatch "\.php$">
    SetHandler application/x-httpd-php
</FilesMatch>
C
export MEMCACHED_PORT="$3" MEMCACHED_NODELAY="$4" GLOSSARY_DB="$2/site/glossary.db"
exec /usr/sbin/apache2 -f "$2/apache.conf" -DFOREGROUND
