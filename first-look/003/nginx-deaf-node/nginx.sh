#!/bin/sh
# $1 port, $2 $3 $4 ports of the price nodes
t=$(mktemp -d /tmp/nginx-prices.XXXXXX)
cat > "$t/nginx.conf" <<C
daemon off;
user root;
worker_processes 2;
pid $t/pid;
error_log $t/error.log;
events { worker_connections 512; }
http {
  log_format up '\$upstream_addr \$upstream_status \$upstream_response_time \$request_time';
  access_log $t/access.log up;
  client_body_temp_path $t/b; proxy_temp_path $t/p; fastcgi_temp_path $t/f; uwsgi_temp_path $t/u; scgi_temp_path $t/s;
  upstream prices {
    server 127.0.0.1:$2 max_fails=0;
    server 127.0.0.1:$3 max_fails=0;
    server 127.0.0.1:$4 max_fails=0;
  }
  server {
    listen 127.0.0.1:$1;
    location / {
      proxy_pass http://prices;
      proxy_read_timeout 500ms;
      proxy_next_upstream error timeout;
    }
  }
}
C
exec /usr/sbin/nginx -e "$t/error.log" -c "$t/nginx.conf"
