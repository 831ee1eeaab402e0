#!/bin/bash
# start.sh PORT: a RabbitMQ of its own with the management API on PORT
set -e
HERE=$(cd "$(dirname "$0")" && pwd)
D=$(mktemp -d /tmp/rabbit.XXXXXX)
A=$(python3 -c 'import socket; s=[socket.socket() for _ in range(2)]; [x.bind(("127.0.0.1",0)) for x in s]; print(*[x.getsockname()[1] for x in s])')
set -- $1 $A
cat > "$D/rabbitmq.conf" <<X
listeners.tcp.default = 127.0.0.1:$2
management.tcp.ip = 127.0.0.1
management.tcp.port = $1
loopback_users.guest = true
log.file.level = warning
load_definitions = $HERE/definitions.json
X
echo '[rabbitmq_management].' > "$D/enabled_plugins"
export HOME="$D" RABBITMQ_NODENAME="mail$1@localhost" RABBITMQ_DIST_PORT=$3 RABBITMQ_MNESIA_BASE="$D/mnesia" RABBITMQ_LOG_BASE="$D/log" \
  RABBITMQ_CONFIG_FILE="$D/rabbitmq" RABBITMQ_ENABLED_PLUGINS_FILE="$D/enabled_plugins" RABBITMQ_PID_FILE="$D/pid" RABBITMQ_GENERATED_CONFIG_DIR="$D/gen" ERL_EPMD_ADDRESS=127.0.0.1
B=$(ls -d /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin)
exec "$B/rabbitmq-server"
