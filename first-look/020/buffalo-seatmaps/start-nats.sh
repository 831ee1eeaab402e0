#!/bin/sh
# $1 = port, $2 = directory
exec nats-server -a 127.0.0.1 -p "$1" -js -sd "$2/js"
