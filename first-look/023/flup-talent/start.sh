#!/bin/sh
# start.sh PORT TMP CACHE CHILDREN: flup's processes, and nginx before them
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sed -e "s|@PORT@|$1|g" -e "s|@TMP@|$2|g" "$here/nginx.conf" >"$2/nginx.conf"
"$3/venv/bin/python" "$here/app.py" "$2/talent.sock" "$4" &
exec nginx -p "$2" -e "$2/error.log" -c "$2/nginx.conf"
