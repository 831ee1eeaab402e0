#!/bin/sh
# $1 port, $2 and $3 ports of the depots
t=$(mktemp -d /tmp/nginx-depots.XXXXXX)
cat > "$t/nginx.conf" <<C
daemon off;
user root;
worker_processes 2;
pid $t/pid;
error_log $t/error.log;
events { worker_connections 512; }
http {
  log_format up '\$upstream_addr \$upstream_response_time \$request_time';
  access_log $t/access.log up;
  client_body_temp_path $t/b; proxy_temp_path $t/p; fastcgi_temp_path $t/f; uwsgi_temp_path $t/u; scgi_temp_path $t/s;
  upstream depots {
    server 127.0.0.1:$2 weight=2;
    server 127.0.0.1:$3;
    keepalive 32;
  }
  server {
    listen 127.0.0.1:$1;
    location / {
      proxy_pass http://depots;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
C
exec /usr/sbin/nginx -e "$t/error.log" -c "$t/nginx.conf"
