#!/bin/sh
# start.sh CACHE CASE TMP
mkdir -p "$3/user"
cp "$2/settings.js" "$2/flows.json" "$3/user/"
exec node "$1/node_modules/node-red/red.js" --userDir "$3/user" --settings "$3/user/settings.js" flows.json
