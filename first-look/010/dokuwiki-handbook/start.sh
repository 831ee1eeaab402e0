#!/bin/sh
# start.sh PORT TMP: DokuWiki of Debian, a copy of its own data, under Apache with mod_php
here=$(dirname "$(readlink -f "$0")")
w=$2/wiki
cp -rL /usr/share/dokuwiki "$w"
rm -f "$w/inc/preload.php" "$w/.htaccess"
mkdir -p "$w/conf" "$w/data"
cp -rL /etc/dokuwiki/. "$w/conf/"
cp -rL /var/lib/dokuwiki/data/. "$w/data/"
rm -f "$w/conf/.htaccess"
cat > "$w/conf/local.php" <<C
<?php
\$conf['title'] = 'Handbook';
\$conf['useacl'] = 0;
\$conf['savedir'] = '$w/data';
C
python3 "$here/pages.py" "$w/data/pages"
chown -R www-data "$w"
chmod 755 "$2"
m=/usr/lib/apache2/modules
cat > "$2/apache.conf" <<C
ServerRoot $2
ServerName wiki
Listen 127.0.0.1:$1
PidFile $2/apache.pid
ErrorLog /dev/stderr
LogLevel error
User www-data
Group www-data
LoadModule mpm_prefork_module $m/mod_mpm_prefork.so
LoadModule authz_core_module $m/mod_authz_core.so
LoadModule dir_module $m/mod_dir.so
LoadModule mime_module $m/mod_mime.so
LoadModule php_module $m/libphp8.2.so
TypesConfig /etc/mime.types
StartServers 24
MinSpareServers 5
MaxSpareServers 24
MaxRequestWorkers 24
MaxConnectionsPerChild 0
KeepAlive On
KeepAliveTimeout 30
MaxKeepAliveRequests 0
DocumentRoot $w
DirectoryIndex doku.php
<FilesMatch \.php$>
  SetHandler application/x-httpd-php
</FilesMatch>
C
exec apache2 -D FOREGROUND -f "$2/apache.conf"
