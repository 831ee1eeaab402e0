#!/bin/sh
# usage: start.sh PORT TMP CASE
port=$1; tmp=$2; case=$3
mkdir -p "$tmp/apache"
cat > "$tmp/httpd.conf" <<C
ServerRoot "$tmp/apache"
ServerName localhost
PidFile "$tmp/apache/pid"
DefaultRuntimeDir "$tmp/apache"
Mutex pthread
Listen 127.0.0.1:$port
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule env_module /usr/lib/apache2/modules/mod_env.so
LoadModule lua_module /usr/lib/apache2/modules/mod_lua.so
StartServers 1
ServerLimit 1
ThreadLimit 48
ThreadsPerChild 48
MaxRequestWorkers 48
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 30
ErrorLog /dev/stderr
LogLevel warn
DocumentRoot "$case/lua"
LuaScope thread
LuaCodeCache forever
LuaMapHandler ^/article/(\d+)\$ $case/lua/shop.lua article
LuaMapHandler ^/pickup/(\d+)\$ $case/lua/shop.lua pickup
LuaMapHandler ^/health\$ $case/lua/shop.lua health
<Directory "$case/lua">
  Require all granted
</Directory>
C
exec "$(command -v apache2 || echo /usr/sbin/apache2)" -f "$tmp/httpd.conf" -D FOREGROUND
