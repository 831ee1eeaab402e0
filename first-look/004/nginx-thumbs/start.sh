#!/bin/sh
# start.sh PORT TMP PHOTOS
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$2"
sed -e "s#@PORT@#$1#; s#@TMP@#$2#; s#@PHOTOS@#$3#; s#@CASE@#$here#" "$here/nginx.conf" > "$2/nginx.conf"
exec nginx -p "$2" -c "$2/nginx.conf" -e stderr
