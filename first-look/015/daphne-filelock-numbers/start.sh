#!/bin/sh
# start.sh VENV CASE PORT
cd "$2"
exec "$1/bin/daphne" -b 127.0.0.1 -p "$3" -v 0 app:app
