#!/bin/sh
# start.sh PORT TMP CACHE CASE: gunicorn on a copy of the database
set -eu
cp "$3/racks.db" "$2/racks.db"
export RACKS_DB="$2/racks.db" PYTHONDONTWRITEBYTECODE=1
exec "$3/venv/bin/gunicorn" --chdir "$4/site" --bind "127.0.0.1:$1" --worker-class gthread --workers 1 --threads 16 \
    --worker-tmp-dir "$2" --keep-alive 75 wsgi:application
