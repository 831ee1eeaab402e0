#!/bin/bash
# start.sh VENV PORT COLLECTOR: the app writes its audit log to stdout, which is piped to the shipper
cd "$(dirname "$0")"
exec 1> >(exec "$1/bin/python" ship.py "$3")
exec "$1/bin/python" app.py "$2"
