#!/bin/sh
# start.sh CACHE CASE TMP ; PORT, DB_PORT
set -e
sed -e "s|%(http_port)s|$PORT|; s|%(db_url)s|postgresql://kinto@127.0.0.1:$DB_PORT/kinto|" "$2/kinto.ini" > "$3/kinto.ini"
exec "$1/venv/bin/kinto" start --ini "$3/kinto.ini"
