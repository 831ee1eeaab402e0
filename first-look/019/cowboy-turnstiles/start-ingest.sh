#!/bin/sh
# first service: makes the shared folder new; the log driver finds the ingest's port there
set -e
port="$1"; cache="$2"; case="$3"
rm -rf "$cache/shared"; mkdir -p "$cache/shared"
mkfifo "$cache/shared/stdout.fifo"
echo "$port" > "$cache/shared/ingest.port"
exec python3 "$case/ingest.py" "$port"
