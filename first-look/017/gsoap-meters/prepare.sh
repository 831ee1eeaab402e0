#!/bin/sh
# builds the server and the database template: prepare.sh CACHE CASE
set -e
cache=$1 case=$2
mkdir -p "$cache/build"
cd "$cache/build"
cp "$case/meters.h" "$case/server.cpp" .
soapcpp2 -c++ -S -L -x meters.h >/dev/null
g++ -O2 -g -std=c++17 -o server server.cpp soapC.cpp soapServer.cpp -lgsoap++ -lrocksdb -lpthread
[ -e "$cache/db/CURRENT" ] || { rm -rf "$cache/db.new"; ./server prepare "$cache/db.new"; rm -rf "$cache/db"; mv "$cache/db.new" "$cache/db"; }
