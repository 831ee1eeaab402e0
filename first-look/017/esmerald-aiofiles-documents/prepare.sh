#!/bin/sh
# prepare.sh CACHE: the virtual environment of the archive
set -e
cache=$1
[ -e "$cache/venv/ready-3" ] && exit 0
mkdir -p "$cache"
rm -rf "$cache/venv"
python3 -m venv "$cache/venv"
"$cache/venv/bin/pip" install -q esmerald==3.9.4 lilya==0.20.10 uvicorn==0.54.0 aiofiles urllib3
touch "$cache/venv/ready-3"
