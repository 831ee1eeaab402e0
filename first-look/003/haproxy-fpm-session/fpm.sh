#!/bin/sh
# $1 port, $2 scratch folder
mkdir -p "$2/sessions"
cat > "$2/fpm.conf" <<C
[global]
error_log = $2/fpm.log
daemonize = no
[www]
user = root
group = root
listen = 127.0.0.1:$1
pm = static
pm.max_children = 24
pm.status_path = /fpm-status
php_admin_value[session.save_path] = $2/sessions
C
exec /usr/sbin/php-fpm8.2 -R -F -y "$2/fpm.conf"
