#!/bin/bash
# nginx: the pages of the help desk, and the way to the control agent
port=$1; agent=$2; tmp=$3
mkdir -p "$tmp/html" "$tmp/t"
cat > "$tmp/html/index.html" <<H
<!doctype html><title>Leases</title><h1>Leases of site 20</h1><p>Ask for an address, a host name or a hardware address.</p>
H
cat > "$tmp/nginx.conf" <<C
daemon off; worker_processes 1; pid $tmp/pid; error_log stderr error;
events { worker_connections 256; }
http {
  access_log off; client_body_temp_path $tmp/t; proxy_temp_path $tmp/p; fastcgi_temp_path $tmp/f; uwsgi_temp_path $tmp/u; scgi_temp_path $tmp/s;
  keepalive_requests 1000000;
  upstream agent { server 127.0.0.1:$agent; keepalive 16; }
  server {
    listen 127.0.0.1:$port;
    root $tmp/html;
    location /kea { proxy_pass http://agent/; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host kea; }
  }
}
C
exec nginx -p "$tmp" -c "$tmp/nginx.conf"
