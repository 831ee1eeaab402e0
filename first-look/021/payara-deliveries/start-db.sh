#!/bin/bash
# usage: start-db.sh PORT CACHE
set -e
exec python3 "$(dirname "$0")/pgrun.py" "$1" "$2/db/data"
