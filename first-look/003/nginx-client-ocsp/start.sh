#!/bin/bash
# start.sh PORT CASE RESPONDER_PORT [CACHE_LINE]
D=$(mktemp -d /tmp/desk-nginx.XXXXXX)
cat > $D/nginx.conf <<C
daemon off;
worker_processes 1;
pid $D/pid;
error_log stderr warn;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path $D/b; proxy_temp_path $D/p; fastcgi_temp_path $D/f; uwsgi_temp_path $D/u; scgi_temp_path $D/s;
  server {
    listen 127.0.0.1:$1 ssl;
    ssl_certificate $2/pki/server.pem;
    ssl_certificate_key $2/pki/server.key;
    ssl_session_cache off;
    ssl_session_tickets off;
    ssl_client_certificate $2/pki/ca.pem;
    ssl_verify_client on;
    ssl_ocsp leaf;
    ssl_ocsp_responder http://127.0.0.1:$3/;
    $4
    location / { return 200 "desk 4\n"; }
  }
}
C
exec nginx -c $D/nginx.conf
