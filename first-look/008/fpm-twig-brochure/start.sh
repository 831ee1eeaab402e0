#!/bin/sh
# start.sh PORT TMP CHILDREN
port=$1; tmp=$2; children=$3; here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$tmp/twig" "$tmp/n"; chmod 777 "$tmp/twig"
cat >"$tmp/fpm.conf" <<C
[global]
error_log = $tmp/fpm.log
daemonize = no
[www]
user = root
group = root
listen = $tmp/fpm.sock
listen.mode = 0666
pm = static
pm.max_children = $children
env[TWIG_CACHE] = $tmp/twig
C
cat >"$tmp/nginx.conf" <<C
user root;
worker_processes 1;
daemon off;
pid $tmp/nginx.pid;
error_log $tmp/nginx.log;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path $tmp/n/b; proxy_temp_path $tmp/n/p; fastcgi_temp_path $tmp/n/f; uwsgi_temp_path $tmp/n/u; scgi_temp_path $tmp/n/s;
  upstream php { server unix:$tmp/fpm.sock; }
  server {
    listen 127.0.0.1:$port;
    location / {
      fastcgi_pass php;
      fastcgi_buffers 16 32k;
      fastcgi_param SCRIPT_FILENAME $here/index.php;
      fastcgi_param REQUEST_METHOD \$request_method;
      fastcgi_param REQUEST_URI \$request_uri;
      fastcgi_param QUERY_STRING \$query_string;
    }
  }
}
C
php-fpm8.2 -R -F -y "$tmp/fpm.conf" &
exec nginx -c "$tmp/nginx.conf" -p "$tmp"
