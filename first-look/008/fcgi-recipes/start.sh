#!/bin/bash
# start.sh PORT FOLDER: nginx, with the recipes as a FastCGI program of 16 processes (plackup)
set -e
R=$(mktemp -d /tmp/recipes.XXXXXX)
chmod 755 "$R"
export RECIPES_DB="$2/recipes.db"
plackup -E deployment -s FCGI --listen "$R/app.sock" --nproc 16 --manager FCGI::ProcManager "$(dirname "$0")/app.psgi" > "$R/app.log" 2>&1 &
cat > "$R/nginx.conf" <<X
user root;
worker_processes 1;
daemon off;
pid $R/nginx.pid;
error_log $R/error.log;
events { worker_connections 512; }
http {
  access_log off;
  keepalive_requests 100000;
  client_body_temp_path $R/body; proxy_temp_path $R/proxy; fastcgi_temp_path $R/fcgi; uwsgi_temp_path $R/uwsgi; scgi_temp_path $R/scgi;
  server {
    listen 127.0.0.1:$1;
    location / { include /etc/nginx/fastcgi_params; fastcgi_param SCRIPT_NAME ""; fastcgi_param PATH_INFO \$fastcgi_script_name; fastcgi_pass unix:$R/app.sock; }
  }
}
X
for i in $(seq 100); do [ -S "$R/app.sock" ] && break; sleep 0.1; done
exec nginx -c "$R/nginx.conf"
