#!/bin/sh
# prepare.sh CACHE: the virtual environment of the helpdesk
set -e
cache=$1
[ -e "$cache/venv/ready-1" ] && exit 0
mkdir -p "$cache"
rm -rf "$cache/venv"
python3 -m venv "$cache/venv"
"$cache/venv/bin/pip" install -q python-fasthtml==0.14.14 uvicorn==0.54.0
touch "$cache/venv/ready-1"
