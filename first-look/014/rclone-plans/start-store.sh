#!/bin/sh
# start-store.sh PORT CACHE: the file store, a plain web server
exec python3 -m http.server "$1" --bind 127.0.0.1 --directory "$2/files"
