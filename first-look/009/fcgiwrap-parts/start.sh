#!/bin/sh
# start.sh PORT CGIDIR CHILDREN DBPORT: nginx in front of fcgiwrap
t=$(mktemp -d /tmp/parts.XXXXXX); chmod 755 "$t"
export PARTS_DB="host=127.0.0.1 port=$4 user=postgres dbname=parts"
fcgiwrap -c "$3" -s "unix:$t/cgi.sock" &
for i in 1 2 3 4 5 6 7 8 9 10; do [ -S "$t/cgi.sock" ] && break; sleep 0.1; done
chmod 666 "$t/cgi.sock"
cat > "$t/nginx.conf" <<EOF
daemon off; master_process off; pid $t/nginx.pid; error_log stderr error;
events { worker_connections 512; }
http {
  access_log off; keepalive_requests 100000;
  client_body_temp_path $t/a; proxy_temp_path $t/b; fastcgi_temp_path $t/c; uwsgi_temp_path $t/d; scgi_temp_path $t/e;
  server {
    listen 127.0.0.1:$1;
    location = /health { return 204; }
    location /cgi-bin/ {
      include /etc/nginx/fastcgi_params;
      root $2;
      fastcgi_param SCRIPT_FILENAME $2\$fastcgi_script_name;
      fastcgi_pass unix:$t/cgi.sock;
    }
  }
}
EOF
exec nginx -p "$t" -c "$t/nginx.conf"
