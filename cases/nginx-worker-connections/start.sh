#!/bin/sh
# nginx in the foreground with all of its files in a folder: start.sh PORT FOLDER CONNECTIONS
set -eu
cd "$2"
# At 200 kB a second a page takes 0.2 s: connections that rest would be closed to make room for others.
head -c 40000 /dev/zero > page
cat > nginx.conf <<CONF
daemon off; worker_processes 1; pid nginx.pid; error_log stderr crit;
events { worker_connections $3; }
http { access_log off; client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c;
uwsgi_temp_path d; scgi_temp_path e; keepalive_requests 1000000;
server { listen 127.0.0.1:$1; location / { root $PWD; limit_rate 200k; try_files /page =404; } } }
CONF
exec nginx -e stderr -p "$PWD" -c nginx.conf
