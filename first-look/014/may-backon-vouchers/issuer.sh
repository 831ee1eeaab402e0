#!/bin/sh
exec python3 "$(dirname "$0")/issuer.py" "$1"
