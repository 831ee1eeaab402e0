#!/bin/sh
# prepare.sh CACHE CASE: Debian packages libev-dev 1:4.33 and libhttp-parser-dev 2.9.4 are installed beforehand
set -eu
g++ -std=c++17 -O2 -g -fno-omit-frame-pointer -o "$1/voxels" "$2/voxels.cpp" -lev -lhttp_parser -pthread
