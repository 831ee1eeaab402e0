#!/bin/sh
# fpm.sh PORT TMP CHILDREN
cat > "$2/fpm.conf" <<C
[global]
error_log = $2/fpm.log
daemonize = no
[www]
user = www-data
group = www-data
listen = 127.0.0.1:$1
pm = static
pm.max_children = $3
pm.status_path = /fpm-status
C
exec php-fpm8.2 -F -y "$2/fpm.conf"
