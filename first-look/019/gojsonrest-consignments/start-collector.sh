#!/bin/bash
# start-collector.sh PORT CASE SHARED
mkdir -p "$3"
rm -rf "$3"/*
echo "$1" > "$3/collector.port"
exec python3 "$2/collector.py" "$1"
