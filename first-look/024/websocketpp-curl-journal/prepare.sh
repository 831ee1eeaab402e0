#!/bin/sh
# prepare.sh CACHE CASE: the server (apt-get install g++ libwebsocketpp-dev libboost-system-dev libcurl4-openssl-dev)
set -eu
cache=$1
case=$2
nice -n 10 g++ -std=c++14 -O1 -g1 -o "$cache/server.new" "$case/server.cpp" -lboost_system -lcurl -lpthread
mv "$cache/server.new" "$cache/server"
