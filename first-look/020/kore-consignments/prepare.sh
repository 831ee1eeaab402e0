#!/bin/bash
set -e
cache=$1; case=$2
mkdir -p "$cache"
gcc -O2 -g -fPIC -shared -DKORE_USE_TASKS -o "$cache/app.so" "$case/app.c" -lcurl
