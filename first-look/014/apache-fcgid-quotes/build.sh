#!/bin/sh
# build.sh CASE: in the cache folder
set -e
cc -O2 -g -o quote.fcgi "$1/quote.c" -lfcgi
