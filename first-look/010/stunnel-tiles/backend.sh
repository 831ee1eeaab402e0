#!/bin/sh
# backend.sh PORT TMP: nginx with tiles of 20 to 400 kB
mkdir -p "$2/tiles"
for k in 20 40 80 120 200 400; do head -c ${k}000 /dev/urandom > "$2/tiles/$k.png"; done
chmod -R a+rX "$2"
cat > "$2/nginx.conf" <<C
daemon off;
user root;
worker_processes 1;
pid $2/nginx.pid;
error_log stderr error;
events { worker_connections 256; }
http {
  access_log off;
  types { image/png png; }
  tcp_nodelay on;
  keepalive_requests 100000;
  server { listen 127.0.0.1:$1; root $2/tiles; }
}
C
exec nginx -c "$2/nginx.conf"
