#!/bin/sh
# usage: start.sh PORT TMP CASE    php-fpm beside nginx; nginx is the server
port=$1; tmp=$2; case=$3
mkdir -p "$tmp/nginx"
cat > "$tmp/fpm.conf" <<C
[global]
error_log = $tmp/fpm.log
daemonize = no
[www]
listen = $tmp/fpm.sock
pm = static
pm.max_children = 14
clear_env = no
catch_workers_output = yes
php_admin_value[opcache.enable] = 1
C
[ "$(id -u)" = 0 ] && printf 'user = root\ngroup = root\n' >> "$tmp/fpm.conf"
cat > "$tmp/nginx.conf" <<C
worker_processes 1;
pid $tmp/nginx/pid;
error_log stderr warn;
$([ "$(id -u)" = 0 ] && echo "user root;")
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path $tmp/nginx/body;
  proxy_temp_path $tmp/nginx/proxy;
  fastcgi_temp_path $tmp/nginx/fcgi;
  uwsgi_temp_path $tmp/nginx/uwsgi;
  scgi_temp_path $tmp/nginx/scgi;
  keepalive_requests 100000;
  server {
    listen 127.0.0.1:$port;
    location / {
      fastcgi_pass unix:$tmp/fpm.sock;
      fastcgi_param SCRIPT_FILENAME $case/www/index.php;
      fastcgi_param REQUEST_METHOD \$request_method;
      fastcgi_param REQUEST_URI \$request_uri;
      fastcgi_param QUERY_STRING \$query_string;
    }
  }
}
C
fpm=$(command -v php-fpm8.2 || command -v php-fpm || echo /usr/sbin/php-fpm8.2)
"$fpm" -R -F -y "$tmp/fpm.conf" &
child=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  [ -S "$tmp/fpm.sock" ] && break
  sleep 0.2
done
self=$$
( trap '' TERM; while kill -0 "$self" 2>/dev/null && kill -0 "$child" 2>/dev/null; do sleep 0.5; done; kill "$child" 2>/dev/null ) >/dev/null 2>&1 &
exec "$(command -v nginx || echo /usr/sbin/nginx)" -e stderr -c "$tmp/nginx.conf" -g "daemon off;"
