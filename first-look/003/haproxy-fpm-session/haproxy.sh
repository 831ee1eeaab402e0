#!/bin/sh
# $1 port, $2 folder of the scripts, $3 port of php-fpm, $4 "early": the session is closed before the bank is asked
f=$(mktemp /tmp/haproxy-fpm.XXXXXX)
early=""; [ "$4" = early ] && early="  set-param CLOSE_EARLY 1"
cat > "$f" <<C
global
  maxconn 500
defaults
  mode http
  timeout connect 2s
  timeout client 20s
  timeout server 20s
frontend shop
  bind 127.0.0.1:$1
  default_backend php
backend php
  use-fcgi-app php
  server fpm 127.0.0.1:$3 proto fcgi
fcgi-app php
  docroot $2
  index cart.php
  path-info ^(/.+\.php)(/.*)?\$
$early
C
exec /usr/sbin/haproxy -db -f "$f"
