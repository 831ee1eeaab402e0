#!/bin/sh
# $1 port, $2 port of node, $3 connections to node at most
f=$(mktemp /tmp/haproxy-node.XXXXXX)
cat > "$f" <<C
global
  maxconn 500
defaults
  mode http
  timeout connect 2s
  timeout client 20s
  timeout server 20s
  timeout queue 10s
frontend theatre
  bind 127.0.0.1:$1
  stats enable
  stats uri /haproxy-stats
  default_backend seats
backend seats
  http-reuse always
  server node1 127.0.0.1:$2 maxconn $3
C
exec /usr/sbin/haproxy -db -f "$f"
