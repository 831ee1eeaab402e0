#!/bin/sh
# start-app.sh CASE PORT
export APP_LIB="$1/lib"
exec starman --listen "127.0.0.1:$2" --workers 40 --preload-app --keepalive-timeout 60 \
  --max-requests 100000 --disable-proctitle --env deployment "$1/app.psgi"
