#!/bin/sh
exec python3 "$(dirname "$0")/bureau.py" "$1"
