#!/bin/sh
# $1 = port, $2 = scratch, $3 = cache, $4 = port of mono
cat > "$2/nginx.conf" <<N
daemon off;
master_process off;
pid $2/nginx.pid;
error_log stderr warn;
events { worker_connections 512; }
http {
  access_log off;
  default_type text/html;
  client_body_temp_path $2/body; proxy_temp_path $2/proxy; fastcgi_temp_path $2/fcgi; uwsgi_temp_path $2/uwsgi; scgi_temp_path $2/scgi;
  keepalive_requests 100000;
  server {
    listen 127.0.0.1:$1;
    root $3/static;
    location ~ \.ashx\$ {
      include /etc/nginx/fastcgi_params;
      fastcgi_param PATH_INFO "";
      fastcgi_param SCRIPT_FILENAME $3/site\$fastcgi_script_name;
      fastcgi_pass 127.0.0.1:$4;
    }
  }
}
N
exec nginx -p "$2" -c "$2/nginx.conf"
