#!/bin/sh
# start-gate.sh PORT TMP CARRIER STREAMS: the carrier's gate, nginx that speaks HTTP/2 without TLS
mkdir -p "$2/gate"
cat > "$2/gate/nginx.conf" <<C
daemon off;
worker_processes 1;
error_log stderr warn;
pid $2/gate/pid;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path $2/gate/body; proxy_temp_path $2/gate/proxy; fastcgi_temp_path $2/gate/f; uwsgi_temp_path $2/gate/u; scgi_temp_path $2/gate/s;
  keepalive_requests 10000000;
  keepalive_timeout 1h;
  http2_max_concurrent_streams $4;
  upstream carrier { server 127.0.0.1:$3; keepalive 64; keepalive_requests 10000000; }
  server {
    listen 127.0.0.1:$1 http2;
    location / { proxy_pass http://carrier; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
C
exec nginx -c "$2/gate/nginx.conf" -e stderr -p "$2/gate"
