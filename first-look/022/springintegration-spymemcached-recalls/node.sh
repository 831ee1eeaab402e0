#!/bin/sh
# node.sh PORT STATE CASE: a cache node; STATE "hung" stands for a node whose
# host still takes connections but whose memcached does not answer any more
set -e
if [ "$2" = hung ]; then
    exec python3 "$3/node.py" "$1"
fi
user=
[ "$(id -u)" = 0 ] && user="-u root"
exec memcached $user -l 127.0.0.1 -p "$1" -U 0 -m 16 -t 1
