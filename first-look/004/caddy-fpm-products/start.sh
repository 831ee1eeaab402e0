#!/bin/sh
# start.sh PORT CASE
run=$(mktemp -d /tmp/products.XXXXXX)
chmod 755 "$run"
cat >"$run/fpm.conf" <<F
[global]
error_log = /dev/stderr
daemonize = no
[www]
user = www-data
group = www-data
listen = $run/fpm.sock
listen.owner = www-data
listen.mode = 0666
pm = static
pm.max_children = 8
F
php-fpm8.2 -y "$run/fpm.conf" -F &
export HTTP_PORT=$1 CASE_DIR=$2 FPM_SOCK=$run/fpm.sock XDG_DATA_HOME=$run XDG_CONFIG_HOME=$run
exec caddy run --config "$2/Caddyfile" --adapter caddyfile
