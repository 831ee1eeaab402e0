#!/bin/sh
# start-nats.sh PORT CACHE
set -e
rm -rf "$2/shared"
mkdir -p "$2/shared"
echo "$1" > "$2/shared/nats.port"
exec nats-server -a 127.0.0.1 -p "$1"
