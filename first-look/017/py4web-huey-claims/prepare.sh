#!/bin/sh
# prepare.sh CACHE: the virtual environment of server and task consumer
set -e
cache=$1
[ -e "$cache/venv/ready-1" ] && exit 0
mkdir -p "$cache"
rm -rf "$cache/venv"
python3 -m venv "$cache/venv"
"$cache/venv/bin/pip" install -q py4web==1.20260805.0 huey==3.5.4 "redis>=5,<8" gunicorn==27.0.1 setuptools
touch "$cache/venv/ready-1"
