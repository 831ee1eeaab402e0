#!/bin/bash
# start-logd.sh PORT CASE SHARED
exec python3 "$2/logd.py" "$1" "$3/log.sock" "$(cat "$3/collector.port")"
