#!/bin/sh
# start.sh CACHE CASE PROGRAM [ARGS]: a program of the case beside its node_modules
cp "$2/$3" "$1/$3"
export CERTS="$1" NODE_ENV=production
P="$3"
cd "$1" && shift 3 && exec node "$P" "$@"
