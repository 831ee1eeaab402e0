#!/bin/sh
# start.sh PORT BACKEND_PORT MAXCONN
d=$(mktemp -d /tmp/haproxy-XXXXXX)
cat > "$d/haproxy.cfg" <<C
global
  maxconn 1000
  stats socket $d/admin.sock mode 600 level admin
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout queue 20s
frontend web
  bind 127.0.0.1:$1
  default_backend app
backend app
  server app1 127.0.0.1:$2 maxconn $3
C
exec haproxy -db -f "$d/haproxy.cfg"
