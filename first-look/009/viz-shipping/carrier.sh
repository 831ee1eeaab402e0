#!/bin/sh
# carrier.sh PORT TMP: the carrier's tariff server; it limits its callers
mkdir -p "$2/www/tariff" "$2/logs"
for z in 0 1 2 3 4 5 6 7; do echo "{\"zone\":$z,\"cents\":$((490 + z * 35))}" > "$2/www/tariff/$z.json"; done
chmod 755 "$2"
cat > "$2/nginx.conf" <<EOF
daemon off; master_process off; pid $2/nginx.pid; error_log $2/error.log error;
events { worker_connections 512; }
http {
  access_log off; keepalive_requests 100000;
  client_body_temp_path $2/logs; proxy_temp_path $2/logs; fastcgi_temp_path $2/logs; uwsgi_temp_path $2/logs; scgi_temp_path $2/logs;
  limit_req_zone \$server_name zone=callers:64k rate=60r/s;
  limit_req_status 503; limit_req_log_level error;
  server {
    listen 127.0.0.1:$1; server_name carrier; root $2/www;
    location /tariff/ { limit_req zone=callers burst=1 nodelay; default_type application/json; }
  }
}
EOF
exec nginx -p "$2" -c "$2/nginx.conf"
