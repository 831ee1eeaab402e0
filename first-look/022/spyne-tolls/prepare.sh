#!/bin/sh
# prepare.sh CACHE CASE: virtual environment
set -eu
cache=$1
if [ ! -e "$cache/venv/.complete" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q --disable-pip-version-check \
        "spyne==2.14.0" "lxml<6" "boto3==1.35.99" "waitress==3.0.2"
    touch "$cache/venv/.complete"
fi
