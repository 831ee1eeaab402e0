#!/bin/sh
user=""
[ "$(id -u)" = 0 ] && user="-u nobody"
exec memcached -l 127.0.0.1 -p "$1" -U 0 -m 64 -t 2 $user
