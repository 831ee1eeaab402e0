#!/bin/sh
# nginx with TLS: start.sh PORT FOLDER REQUESTS CERTIFICATES (how many requests a connection may have)
set -eu
cd "$2"
cat > nginx.conf <<CONF
daemon off; worker_processes 1; pid nginx.pid; error_log stderr crit;
events { worker_connections 1024; }
http { access_log off; client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c;
uwsgi_temp_path d; scgi_temp_path e; keepalive_requests $3; ssl_session_tickets off;
server { listen 127.0.0.1:$1 ssl; ssl_certificate $4/cert.pem; ssl_certificate_key $4/key.pem;
location / { return 200 'ok'; } } }
CONF
exec nginx -e stderr -p "$PWD" -c nginx.conf
