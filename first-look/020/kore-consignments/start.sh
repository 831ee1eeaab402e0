#!/bin/bash
port=$1; tmp=$2; cache=$3
cat > "$tmp/kore.conf" <<C
server plain {
	bind 127.0.0.1 $port
	tls no
}
load $cache/app.so
workers 1
worker_set_affinity 0
task_threads 64
http_keepalive_time 60
http_request_limit 512
domain * {
	attach plain
	route ^/quotes/(inland|europe|world|islands)$ quote
	route ^/track/[0-9]+$ track
	route ^/consignments/[0-9]+$ consign
}
C
cd "$tmp"
exec kore -f -n -r -q -c "$tmp/kore.conf"
