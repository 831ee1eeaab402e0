#!/bin/sh
# start-app.sh PORT TMP
cat > "$2/nginx.conf" <<C
daemon off;
master_process off;
user root;
error_log stderr warn;
pid $2/nginx.pid;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path $2/b; proxy_temp_path $2/p; fastcgi_temp_path $2/f; uwsgi_temp_path $2/u; scgi_temp_path $2/s;
  keepalive_requests 100000;
  server {
    listen 127.0.0.1:$1;
    default_type application/json;
    location / { return 200 '{"price": 12.40, "currency": "EUR"}\n'; }
  }
}
C
exec nginx -c "$2/nginx.conf"
