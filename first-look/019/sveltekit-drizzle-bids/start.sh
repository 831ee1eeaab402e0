#!/bin/sh
set -e
cache="$1"
cd "$cache/app"
export NODE_ENV=production HOST=127.0.0.1 KEEP_ALIVE_TIMEOUT=60 SHUTDOWN_TIMEOUT=1
exec node build
