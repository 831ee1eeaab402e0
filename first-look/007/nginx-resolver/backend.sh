#!/bin/sh
# backend.sh PORT TMP
set -e
sed "s#PORT#$1#; s#PREFIX#$2#g" "$(dirname "$0")/backend.conf" > "$2/backend.conf"
exec nginx -p "$2" -e stderr -c "$2/backend.conf"
