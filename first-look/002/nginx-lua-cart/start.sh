#!/bin/sh
# start.sh PORT TMP PRICES_PORT
mkdir -p "$2"
sed -e "s|@PORT@|$1|; s|@TMP@|$2|; s|@PRICES@|$3|" "$(dirname "$0")/nginx.conf.in" >"$2/nginx.conf"
exec nginx -e stderr -p "$2" -c "$2/nginx.conf"
