#!/bin/sh
# start-fpm.sh PORT TMP: PHP-FPM with eight workers in the foreground
set -e
port=$1 tmp=$2
cat > "$tmp/fpm.conf" <<CONF
[global]
pid = $tmp/fpm.pid
error_log = $tmp/fpm.log
daemonize = no
[shop]
listen = 127.0.0.1:$port
listen.backlog = 511
user = $(id -un)
group = $(id -gn)
pm = static
pm.max_children = 8
catch_workers_output = yes
php_admin_flag[display_errors] = off
php_admin_flag[log_errors] = on
php_admin_value[error_reporting] = 8191
CONF
exec php-fpm8.2 -F -R -y "$tmp/fpm.conf"
