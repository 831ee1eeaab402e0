#!/bin/sh
# start.sh VENV CASE PORT
cd "$2"
exec "$1/bin/gunicorn" -k gthread -w 3 --threads 6 --preload --keep-alive 60 -b "127.0.0.1:$3" --log-level warning app:application
