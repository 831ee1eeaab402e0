#!/bin/sh
set -e
port="$1"; cache="$2"; case="$3"
exec python3 "$case/logdriver.py" "$port" "$cache/shared/stdout.fifo" "$(cat "$cache/shared/ingest.port")"
