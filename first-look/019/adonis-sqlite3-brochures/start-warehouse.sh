#!/bin/sh
# first service: makes the shared folder with the audit database new
set -e
port="$1"; cache="$2"; case="$3"
rm -rf "$cache/shared"; mkdir -p "$cache/shared"
exec python3 "$case/warehouse.py" "$port" "$cache/shared/audit.sqlite"
