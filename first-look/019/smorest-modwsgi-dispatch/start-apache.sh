#!/bin/sh
# start-apache.sh PORT TMP CASE CACHE: Apache (event) with a mod_wsgi daemon group in the foreground
set -e
port=$1 tmp=$2 case=$3 cache=$4
# the daemons run as www-data: the code lies where they may read it
www=/tmp/smorest-modwsgi-dispatch-www
rm -rf "$www"
mkdir -m 755 "$www"
cp "$case/dispatch.py" "$www/"
cp -r "$cache/site" "$www/site"
chmod -R a+rX "$www"
cat > "$www/conf.json" <<CONF
{"redis_port": $REDIS_PORT, "log_socket": "/tmp/smorest-modwsgi-dispatch-run/log.sock", "timing_log": "$TIMING_LOG"}
CONF
cat > "$www/dispatch.wsgi" <<CONF
import os
os.environ["DISPATCH_CONF"] = "$www/conf.json"
from dispatch import app as application
CONF
chmod 644 "$www/conf.json" "$www/dispatch.wsgi"
mods=/usr/lib/apache2/modules
cat > "$tmp/apache.conf" <<CONF
ServerName 127.0.0.1
ServerRoot $tmp
PidFile $tmp/apache.pid
DefaultRuntimeDir $tmp
Listen 127.0.0.1:$port
LoadModule mpm_event_module $mods/mod_mpm_event.so
LoadModule authz_core_module $mods/mod_authz_core.so
LoadModule wsgi_module $mods/mod_wsgi.so
User www-data
Group www-data
ErrorLog $tmp/error.log
LogLevel warn
StartServers 2
MaxRequestWorkers 128
ThreadsPerChild 64
KeepAlive On
KeepAliveTimeout 60
MaxKeepAliveRequests 0
WSGISocketPrefix $www/wsgi
WSGIDaemonProcess dispatch processes=2 threads=16 python-path=$www:$www/site display-name=dispatch
WSGIProcessGroup dispatch
WSGIApplicationGroup %{GLOBAL}
WSGIScriptAlias / $www/dispatch.wsgi
<Directory $www>
    Require all granted
</Directory>
CONF
exec /usr/sbin/apache2 -f "$tmp/apache.conf" -DFOREGROUND
