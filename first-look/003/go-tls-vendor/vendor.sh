#!/bin/sh
# $1 port, $2 scratch folder, $3 folder of the certificate
cat > "$2/nginx.conf" <<C
daemon off;
user root;
worker_processes 1;
pid $2/pid;
error_log $2/error.log;
events { worker_connections 512; }
http {
  log_format tls '\$ssl_protocol reused=\$ssl_session_reused \$connection \$connection_requests \$request_time';
  access_log $2/access.log tls;
  client_body_temp_path $2/b; proxy_temp_path $2/p; fastcgi_temp_path $2/f; uwsgi_temp_path $2/u; scgi_temp_path $2/s;
  server {
    listen 127.0.0.1:$1 ssl;
    server_name vendor.test;
    ssl_certificate $3/vendor.pem;
    ssl_certificate_key $3/vendor.key;
    ssl_session_tickets off;
    ssl_session_cache off;
    keepalive_requests 100000;
    location / { return 200 "gold 85.3\n"; }
  }
}
C
exec /usr/sbin/nginx -e "$2/error.log" -c "$2/nginx.conf"
