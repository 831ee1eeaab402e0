#!/bin/sh
# start.sh CASE CACHE: the consumer of the tasks and the web server
set -e
case=$1
bin=$2/venv/bin
dir=$(mktemp -d)
cp -r "$case/apps" "$dir/apps"
touch "$dir/apps/__init__.py"
cd "$dir"
export PYTHONPATH="$case" APPS="$dir/apps" PYTHONDONTWRITEBYTECODE=1
"$bin/python" "$case/seed.py"
setpriv --pdeathsig TERM "$bin/huey_consumer" claim_tasks.huey -w 2 -k thread -n -q &
exec "$bin/gunicorn" --bind "127.0.0.1:$PORT" --workers 1 --worker-class gthread \
  --threads 24 --keep-alive 30 --log-level warning wsgi:application
