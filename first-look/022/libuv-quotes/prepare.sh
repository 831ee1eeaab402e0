#!/bin/sh
# prepare.sh CACHE CASE: builds the gateway and the rates engine
set -e
mkdir -p "$1"
cc -O2 -g -o "$1/quotes-gateway.new" "$2/gateway.c" -luv -lhttp_parser -lzmq
cc -O2 -g -o "$1/rates-engine.new" "$2/rates.c" -lzmq
mv "$1/quotes-gateway.new" "$1/quotes-gateway"
mv "$1/rates-engine.new" "$1/rates-engine"
