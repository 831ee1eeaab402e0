#!/bin/sh
# $1 port, $2 folder shared by the relay and the server
rm -rf "$2"
mkdir -p "$2"
exec python3 "$(dirname "$0")/collector.py" "$1"
