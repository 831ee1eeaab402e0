#!/bin/bash
# start-broker.sh PORT TMP NODELAY SHARED: Eclipse Mosquitto, in memory only
port=$1; tmp=$2; nodelay=$3; shared=$4
rm -rf "$shared"; mkdir -p "$shared"; echo "$port" >"$shared/broker.port"
cat >"$tmp/mosquitto.conf" <<C
listener $port 127.0.0.1
allow_anonymous true
persistence false
log_dest stderr
log_type error
log_type warning
set_tcp_nodelay $nodelay
max_inflight_messages 200
max_queued_messages 10000
user root
C
exec "$(command -v mosquitto || echo /usr/sbin/mosquitto)" -c "$tmp/mosquitto.conf"
