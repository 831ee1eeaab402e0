#!/bin/sh
# $1 port
PATH=$PATH:/usr/sbin:/usr/local/sbin
exec nats-server -a 127.0.0.1 -p "$1"
