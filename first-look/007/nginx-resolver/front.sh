#!/bin/sh
# front.sh PORT DNSPORT BACKEND
set -e
dir=$(mktemp -d /tmp/front.XXXXXX)
sed "s#DNSPORT#$2#; s#BACKEND#$3#; s#PORT#$1#; s#PREFIX#$dir#g" "$(dirname "$0")/front.conf" > "$dir/front.conf"
exec nginx -p "$dir" -e stderr -c "$dir/front.conf"
