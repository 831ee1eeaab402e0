#!/bin/sh
# start.sh PORT CASE ROUNDS: nginx with two workers and a Perl handler for signed labels
set -e
dir=$(mktemp -d); chmod 755 "$dir"
mkdir "$dir/html"; for i in 1 2 3 4 5 6 7 8 9; do seq 1 400 > "$dir/html/item$i.txt"; done
sed -e "s#@PORT@#$1#" -e "s#@CASE@#$2#" -e "s#@DIR@#$dir#g" "$2/nginx.conf" > "$dir/nginx.conf"
export ROUNDS="$3"
exec nginx -c "$dir/nginx.conf" -p "$dir"
