#!/bin/sh
# node.sh PORT TMP: one inventory machine, nginx with generated stock files
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$2/www"
for i in $(seq 1 24); do echo "{\"sku\":$i,\"stock\":$((i * 7)),\"shelf\":\"B$i\"}" > "$2/www/$i.json"; done
seq -f '%.0f;%.0f;shelf B;in stock;Hamburg' 1 9000 > "$2/www/all.csv"
sed -e "s#@PORT@#$1#; s#@TMP@#$2#" "$here/nginx.conf" > "$2/nginx.conf"
exec nginx -p "$2" -c "$2/nginx.conf" -e stderr
