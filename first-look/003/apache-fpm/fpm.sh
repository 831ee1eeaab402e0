#!/bin/sh
# $1 port, $2 scratch folder, $3 children, $4 extra pool directives' file (optional)
cat > "$2/fpm.conf" <<C
[global]
error_log = $2/fpm.log
daemonize = no
[www]
user = root
group = root
listen = 127.0.0.1:$1
pm = static
pm.max_children = $3
pm.status_path = /fpm-status
C
exec /usr/sbin/php-fpm8.2 -R -F -y "$2/fpm.conf"
