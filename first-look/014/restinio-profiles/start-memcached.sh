#!/bin/sh
# start-memcached.sh PORT LIMIT
exec memcached -u nobody -l 127.0.0.1 -p "$1" -U 0 -m 64 -t 2 -c "$2" -o no_maxconns_fast
