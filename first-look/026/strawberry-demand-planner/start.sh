#!/bin/sh
# start.sh PORT TMP CACHE CASE: the gateway with a copy of the database
set -eu
cp "$3/gateway.db" "$2/gateway.db"
export GATEWAY_DB="$2/gateway.db" PYTHONDONTWRITEBYTECODE=1
exec "$3/venv/bin/uvicorn" --app-dir "$4" --host 127.0.0.1 --port "$1" --loop asyncio --http httptools --no-access-log --timeout-keep-alive 75 gateway:app
