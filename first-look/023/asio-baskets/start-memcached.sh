#!/bin/sh
# start-memcached.sh PORT
exec memcached -u nobody -l 127.0.0.1 -p "$1" -U 0 -m 64 -t 2 -c 256
