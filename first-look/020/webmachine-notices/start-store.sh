#!/bin/sh
# start-store.sh CASE PORT TMP: the document store, nginx with WebDAV
mkdir -p "$3/root/pages" "$3/body" "$3/logs"
chmod -R 777 "$3"
sed -e "s#@PORT@#$2#" -e "s#@TMP@#$3#g" "$1/nginx.conf" > "$3/nginx.conf"
exec nginx -p "$3" -e "$3/logs/error.log" -c "$3/nginx.conf" -g 'daemon off;'
