#!/bin/sh
# usage: start-stock.sh PORT CACHE MAX_STREAMS
MAX_STREAMS="$3" exec "$2/bin/stock" "$1"
