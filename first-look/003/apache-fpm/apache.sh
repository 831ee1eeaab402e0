#!/bin/sh
# $1 port, $2 folder of the scripts, $3 port of php-fpm
t=$(mktemp -d /tmp/apache-fpm.XXXXXX)
m=/usr/lib/apache2/modules
cat > "$t/httpd.conf" <<C
ServerRoot $t
ServerName localhost
PidFile $t/pid
Listen 127.0.0.1:$1
LoadModule mpm_event_module $m/mod_mpm_event.so
LoadModule authz_core_module $m/mod_authz_core.so
LoadModule proxy_module $m/mod_proxy.so
LoadModule proxy_fcgi_module $m/mod_proxy_fcgi.so
User www-data
Group www-data
ErrorLog $t/error.log
DocumentRoot $2
StartServers 2
ThreadsPerChild 32
MaxRequestWorkers 64
<FilesMatch "\.php$">
  SetHandler "proxy:fcgi://127.0.0.1:$3"
</FilesMatch>
<Location "/fpm-status">
  SetHandler "proxy:fcgi://127.0.0.1:$3"
</Location>
C
exec /usr/sbin/apache2 -f "$t/httpd.conf" -DFOREGROUND
