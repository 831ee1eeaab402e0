#!/bin/sh
# start.sh VENV CASE PORT
cd "$2/shop"
exec "$1/bin/gunicorn" -k gthread -w 1 --threads 24 --keep-alive 60 -b "127.0.0.1:$3" --log-level warning site_wsgi:application
