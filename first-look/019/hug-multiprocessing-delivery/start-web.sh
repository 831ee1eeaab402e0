#!/bin/sh
# start-web.sh PORT TMP CASE CACHE
set -e
port=$1 tmp=$2 case=$3 cache=$4
export PYTHONPATH="$case" PYTHONDONTWRITEBYTECODE=1 STREETS="$cache/streets.json.gz"
cd "$tmp"
exec "$cache/venv/bin/gunicorn" -b "127.0.0.1:$port" -k gthread -w 1 --threads 24 --keep-alive 60 --worker-tmp-dir /dev/shm \
    --graceful-timeout 2 delivery:application
