#!/bin/sh
# start-valuers.sh PORT CACHE TMP WEDGED
set -e
i=0
until [ -s "$2/shared/nats.port" ] || [ $i -ge 100 ]; do sleep 0.1; i=$((i+1)); done
sleep 0.5
[ -p "$3/registry.pipe" ] || mkfifo "$3/registry.pipe"
exec node "$2/app/valuers.mjs" "$1" "$2/shared" "$3" "$4"
