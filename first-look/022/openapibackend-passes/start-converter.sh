#!/bin/sh
# start-converter.sh PORT CACHE CASE
set -e
rm -rf "$2/shared"
mkdir -p "$2/shared/in" "$2/shared/work" "$2/shared/out"
exec "$2/venv/bin/python" "$3/converter.py" "$1" "$2/shared"
