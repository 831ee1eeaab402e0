#!/bin/sh
# start-nginx.sh PORT TMP CASE CACHE: nginx in front of PHP-FPM, in the foreground
set -e
port=$1 tmp=$2 case=$3 cache=$4
cat > "$tmp/nginx.conf" <<CONF
daemon off;
user $(id -un) $(id -gn);
pid $tmp/nginx.pid;
error_log $tmp/error.log warn;
worker_processes 1;
events { worker_connections 512; }
http {
    access_log off;
    keepalive_timeout 60s;
    keepalive_requests 1000000;
    client_body_temp_path $tmp/body;
    fastcgi_temp_path $tmp/fastcgi;
    proxy_temp_path $tmp/proxy;
    scgi_temp_path $tmp/scgi;
    uwsgi_temp_path $tmp/uwsgi;
    server {
        listen 127.0.0.1:$port;
        location / {
            include /etc/nginx/fastcgi_params;
            fastcgi_param SCRIPT_FILENAME $case/shop/public/index.php;
            fastcgi_param SCRIPT_NAME /index.php;
            fastcgi_param CACHE_NODES "$CACHE_NODES";
            fastcgi_param PARTS_DB "$cache/parts.sqlite";
            fastcgi_param TIMING_LOG "$TIMING_LOG";
            fastcgi_pass 127.0.0.1:$FPM_PORT;
        }
    }
}
CONF
exec nginx -c "$tmp/nginx.conf" -e "$tmp/error.log"
