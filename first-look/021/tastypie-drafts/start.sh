#!/bin/sh
port=$1 venv=$2 case=$3
cd "$case"
export PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/gunicorn" -k gthread -w 1 --threads 16 --keep-alive 75 --backlog 512 --no-control-socket -b "127.0.0.1:$port" \
  --worker-tmp-dir /dev/shm app:application
