#!/bin/sh
# build.sh CASE: in the cache folder (about a minute)
set -e
c++ -std=c++17 -O1 -g1 -o profiles "$1/profiles.cpp" -lfmt -lhttp_parser -lmemcached -lpthread
