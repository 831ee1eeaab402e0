#!/bin/bash
# start.sh CACHE CASE TMP ARCHIVE_PORT
mkdir -p "$3/log"
printf '%s\n' s100000 n6 "!$2/ship.sh http://127.0.0.1:$4" > "$3/log/config"
exec > >(exec svlogd -b 8192 -l 4000 "$3/log")
exec "$1/target/release/billing"
