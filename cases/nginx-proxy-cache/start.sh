#!/bin/sh
# nginx with a cache before a backend: start.sh PORT FOLDER BACKEND_PORT MODE
# MODE: none (all who miss ask the backend), lock (one of them does), stale (nobody waits).
set -eu
cd "$2"
case $4 in
none) how= ;;
lock) how='proxy_cache_lock on;' ;;
stale) how='proxy_cache_lock on; proxy_cache_use_stale updating; proxy_cache_background_update on;' ;;
esac
cat > nginx.conf <<CONF
daemon off; worker_processes 1; pid nginx.pid; error_log stderr crit;
events { worker_connections 1024; }
http { access_log off; client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c;
uwsgi_temp_path d; scgi_temp_path e; keepalive_requests 1000000;
proxy_cache_path store keys_zone=pages:1m;
server { listen 127.0.0.1:$1; location / { proxy_pass http://127.0.0.1:$3; proxy_cache pages;
proxy_cache_valid 200 1s; $how } } }
CONF
exec nginx -e stderr -p "$PWD" -c nginx.conf
