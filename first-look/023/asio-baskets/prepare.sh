#!/bin/sh
# prepare.sh CACHE CASE: the server (Debian: libasio-dev 1.22, libhttp-parser-dev 2.9)
set -eu
if [ ! -e "$1/baskets" ]; then
    g++ -std=c++17 -O1 -g -DASIO_STANDALONE -DASIO_NO_DEPRECATED -pthread -o "$1/baskets.new" "$2/main.cpp" -lhttp_parser
    mv "$1/baskets.new" "$1/baskets"
fi
