#!/bin/sh
# memcached refuses to run as root without -u
if [ "$(id -u)" = 0 ]; then user="-u nobody"; fi
exec memcached $user -l 127.0.0.1 -p "$1" -U 0 -m 32 -t 1
