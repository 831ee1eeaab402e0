#!/bin/sh
# builds the server into $1
set -e
dpkg -s libcpprest-dev >/dev/null 2>&1 || apt-get install -y -qq libcpprest-dev
cd "$(dirname "$0")"
g++ -std=c++17 -O2 -g -fno-omit-frame-pointer -o "$1/prices" prices.cpp -lcpprest -lboost_system -lssl -lcrypto -lpthread
