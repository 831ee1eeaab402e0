#!/bin/sh
# start.sh PORT TMP
cp -r "$(dirname "$0")/config.ru" "$2/"; mkdir -p "$2/public"; cd "$2"
exec passenger start --engine=builtin --address 127.0.0.1 --port "$1" --environment production --user root \
  --min-instances 3 --max-pool-size 3 --log-file "$2/passenger.log" --pid-file "$2/passenger.pid" --disable-security-update-check --disable-anonymous-telemetry
