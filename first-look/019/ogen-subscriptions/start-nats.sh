#!/bin/bash
# start-nats.sh PORT SHARED
mkdir -p "$2"
rm -rf "$2"/*
echo "$1" > "$2/nats.port"
exec nats-server -a 127.0.0.1 -p "$1"
