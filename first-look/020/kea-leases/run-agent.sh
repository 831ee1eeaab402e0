#!/bin/bash
# kea-ctrl-agent: HTTP in front of the command socket of kea-dhcp4
port=$1; tmp=$2; shared=$3
for i in $(seq 200); do [ -S "$shared/dhcp4.sock" ] && break; sleep 0.1; done
cat > "$tmp/agent.conf" <<C
{ "Control-agent": {
  "http-host": "127.0.0.1", "http-port": $port,
  "control-sockets": { "dhcp4": { "socket-type": "unix", "socket-name": "$shared/dhcp4.sock" } },
  "loggers": [ { "name": "kea-ctrl-agent", "severity": "ERROR", "output_options": [ { "output": "stderr" } ] } ]
} }
C
export KEA_PIDFILE_DIR=$tmp KEA_LOCKFILE_DIR=$tmp
exec /usr/sbin/kea-ctrl-agent -c "$tmp/agent.conf"
