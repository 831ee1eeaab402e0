#!/bin/sh
# usage: start-nats.sh PORT TMP
exec nats-server -a 127.0.0.1 -p "$1" -js -sd "$2/js"
