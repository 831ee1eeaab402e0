#!/bin/sh
# nginx.sh PORT TMP WWW : the origin, compresses the exports as they go out
cat > "$2/nginx.conf" <<C
user root;
daemon off;
worker_processes 2;
pid $2/nginx.pid;
error_log $2/error.log;
events { worker_connections 512; }
http {
  access_log off;
  default_type application/json;
  types { application/json json; }
  client_body_temp_path $2/b; proxy_temp_path $2/p; fastcgi_temp_path $2/f; uwsgi_temp_path $2/u; scgi_temp_path $2/s;
  keepalive_requests 100000;
  gzip on; gzip_comp_level 5; gzip_types application/json; gzip_min_length 500; gzip_proxied any;
  server { listen 127.0.0.1:$1; root $3; }
}
C
exec nginx -c "$2/nginx.conf"
