#!/bin/sh
# fill.sh DIRECTORY: a database with readings of 1000 meters
set -e
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$1/seed"
"$here/start.sh" 18286 "$1/seed" 0s &
pid=$!
python3 "$here/fill.py" 18286
kill $pid
wait $pid || true
