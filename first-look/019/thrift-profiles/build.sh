#!/bin/sh
# build.sh CACHE CASE
set -eu
cache=$1
case=$2
mkdir -p "$cache/gen"
thrift --gen cpp:no_skeleton -out "$cache/gen" "$case/profiles.thrift"
cc="g++ -std=c++17 -O2 -g -pthread -I$cache/gen"
$cc -o "$cache/profiles" "$case/main.cpp" "$cache/gen/Profiles.cpp" \
    "$cache/gen/Agreements.cpp" "$cache/gen/profiles_types.cpp" -lthrift -lmemcached
$cc -o "$cache/contracts" "$case/contracts.cpp" "$cache/gen/Agreements.cpp" \
    "$cache/gen/profiles_types.cpp" -lthrift
