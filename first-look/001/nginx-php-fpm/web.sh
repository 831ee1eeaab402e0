#!/bin/sh
# web.sh PORT FPM_PORT
d=$(mktemp -d /tmp/nginx-php-XXXXXX); chmod 755 "$d"
cat > "$d/nginx.conf" <<C
user www-data;
worker_processes 2;
pid $d/nginx.pid;
error_log $d/error.log;
daemon off;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path $d/b; proxy_temp_path $d/p; fastcgi_temp_path $d/f; uwsgi_temp_path $d/u; scgi_temp_path $d/s;
  server {
    listen 127.0.0.1:$1;
    root $(cd "$(dirname "$0")" && pwd)/www;
    location ~ ^/(fpm-status|.*\.php)\$ {
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME \$document_root\$fastcgi_script_name;
      fastcgi_pass 127.0.0.1:$2;
    }
  }
}
C
exec nginx -c "$d/nginx.conf"
