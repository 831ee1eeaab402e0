#!/bin/sh
# prepare.sh CACHE CASE: builds the server
set -e
mkdir -p "$1"
g++ -std=c++17 -O2 -g -o "$1/receipts.new" "$2/receipts.cpp" -lcxxtools-http -lcxxtools-json -lcxxtools -lcurl -lpthread
mv "$1/receipts.new" "$1/receipts"
