#!/bin/sh
# start.sh PORT
here=$(cd "$(dirname "$0")" && pwd)
exec starman --workers 16 --keepalive-timeout 30 --listen "127.0.0.1:$1" --preload-app -I "$here/lib" "$here/shop.psgi"
