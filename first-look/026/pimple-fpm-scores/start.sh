#!/bin/sh
# start.sh PORT TMP CASE POOL: nginx in front of PHP-FPM, both end with the process group
# POOL is "lazy" (few workers are kept ready; more are forked when all are busy) or "ready"
set -eu
port=$1
tmp=$2
case=$3
case $4 in
    lazy) spare="pm.start_servers = 2
pm.min_spare_servers = 1
pm.max_spare_servers = 2" ;;
    ready) spare="pm.start_servers = 24
pm.min_spare_servers = 16
pm.max_spare_servers = 32" ;;
esac
cat >"$tmp/fpm.conf" <<END
[global]
error_log = /dev/stderr
log_level = ${FPM_LOG:-notice}
daemonize = no
pid = $tmp/fpm.pid
[scores]
user = root
listen = $tmp/fpm.sock
listen.backlog = 511
pm = dynamic
pm.max_children = 48
$spare
pm.status_path = /fpm-status
request_terminate_timeout = 30s
clear_env = no
env[DB_PORT] = $DB_PORT
env[REPLAYS_PORT] = $REPLAYS_PORT
php_admin_value[display_errors] = stderr
php_admin_value[opcache.enable] = 1
END
cat >"$tmp/nginx.conf" <<END
user root;
worker_processes 1;
daemon off;
pid $tmp/nginx.pid;
error_log /dev/stderr warn;
events { worker_connections 512; }
http {
    access_log off;
    client_body_temp_path $tmp/body;
    fastcgi_temp_path $tmp/fastcgi;
    proxy_temp_path $tmp/proxy;
    uwsgi_temp_path $tmp/uwsgi;
    scgi_temp_path $tmp/scgi;
    server {
        listen 127.0.0.1:$port backlog=511;
        keepalive_timeout 75s;
        keepalive_requests 100000;
        location / {
            include /etc/nginx/fastcgi_params;
            fastcgi_param SCRIPT_FILENAME $case/public/index.php;
            fastcgi_param SCRIPT_NAME /index.php;
            fastcgi_pass unix:$tmp/fpm.sock;
        }
        location = /fpm-status {
            allow 127.0.0.1;
            deny all;
            include /etc/nginx/fastcgi_params;
            fastcgi_param SCRIPT_NAME /fpm-status;
            fastcgi_param SCRIPT_FILENAME /fpm-status;
            fastcgi_pass unix:$tmp/fpm.sock;
        }
    }
}
END
nginx -p "$tmp" -e /dev/stderr -c "$tmp/nginx.conf" &
exec php-fpm8.2 -R -n -d zend_extension=opcache.so -F -y "$tmp/fpm.conf"
