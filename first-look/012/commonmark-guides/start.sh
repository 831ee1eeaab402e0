#!/bin/sh
# $1 port, $2 scratch folder, $3 guides, $4 this folder: php-fpm behind nginx
mkdir -p "$2/n" || exit 1
cat > "$2/fpm.conf" <<END
[global]
error_log = $2/fpm.log
daemonize = no
[www]
listen = $2/fpm.sock
listen.mode = 0666
user = root
group = root
pm = static
pm.max_children = 6
env[GUIDES] = $3
php_admin_value[include_path] = .:/usr/share/php
php_admin_value[opcache.enable] = 1
END
cat > "$2/nginx.conf" <<END
daemon off;
master_process off;
user root;
pid $2/n/pid;
error_log $2/n/error.log;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path $2/n/b; proxy_temp_path $2/n/p; fastcgi_temp_path $2/n/f; uwsgi_temp_path $2/n/u; scgi_temp_path $2/n/s;
  keepalive_requests 100000;
  fastcgi_buffers 32 16k;
  server {
    listen 127.0.0.1:$1;
    location / {
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME $4/guide.php;
      fastcgi_pass unix:$2/fpm.sock;
    }
  }
}
END
nginx -c "$2/nginx.conf" &
exec php-fpm8.2 --allow-to-run-as-root --nodaemonize --fpm-config "$2/fpm.conf"
