#!/bin/sh
# builds the server into $1
set -e
dpkg -s libevent-dev zlib1g-dev >/dev/null 2>&1 || apt-get install -y -qq libevent-dev zlib1g-dev
cd "$(dirname "$0")"
gcc -O2 -g -fno-omit-frame-pointer -o "$1/maps" maps.c -levent -lz
