#!/bin/bash
# hung.sh PORT: a memcached that hangs (stopped, its port still open)
memcached -u root -l 127.0.0.1 -p "$1" -m 16 -t 2 & pid=$!
trap 'kill -CONT $pid; kill $pid; exit 0' TERM INT
for i in $(seq 50); do (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && break; sleep 0.1; done
kill -STOP $pid
while kill -0 $pid 2>/dev/null; do sleep 1; done
