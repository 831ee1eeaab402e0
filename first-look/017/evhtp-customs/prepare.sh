#!/bin/sh
# prepare.sh CACHE CASE
set -e
mkdir -p "$1"
gcc -O2 -g -Wall -o "$1/orders" "$2/server.c" -levhtp -levent -levent_pthreads -lrdkafka -lpthread
gcc -O2 -g -Wall -o "$1/broker" "$2/broker.c" -lrdkafka
