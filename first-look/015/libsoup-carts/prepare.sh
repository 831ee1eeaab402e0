#!/bin/sh
# prepare.sh CACHE CASE (Debian: libsoup-3.0-dev libmemcached-dev memcached)
set -e
mkdir -p "$1"
cc -O2 -g -o "$1/carts" "$2/carts.c" $(pkg-config --cflags --libs libsoup-3.0) -lmemcachedutil -lmemcached -lpthread
