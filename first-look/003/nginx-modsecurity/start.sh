#!/bin/bash
# start.sh PORT
D=$(mktemp -d /tmp/waf-nginx.XXXXXX)
cat > $D/waf.conf <<C
SecRuleEngine On
SecRequestBodyAccess On
SecAuditEngine Off
SecAction "id:900990,phase:1,pass,t:none,nolog,setvar:tx.crs_setup_version=334"
Include /usr/share/modsecurity-crs/rules/*.conf
C
cat > $D/nginx.conf <<C
load_module modules/ngx_http_modsecurity_module.so;
daemon off;
worker_processes 1;
pid $D/pid;
error_log $D/error.log error;
events { worker_connections 512; }
http {
  access_log off;
  large_client_header_buffers 8 64k;
  client_body_temp_path $D/b; proxy_temp_path $D/p; fastcgi_temp_path $D/f; uwsgi_temp_path $D/u; scgi_temp_path $D/s;
  modsecurity on;
  modsecurity_rules_file $D/waf.conf;
  server {
    listen 127.0.0.1:$1;
    location / { alias /usr/share/common-licenses/; }
    location = /ok { return 200 "ok\n"; }
  }
}
C
exec nginx -c $D/nginx.conf
