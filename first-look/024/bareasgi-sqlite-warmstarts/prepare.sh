#!/bin/sh
# prepare.sh CACHE CASE: virtual environment
set -eu
cache=$1
if [ ! -e "$cache/venv/.complete" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q --disable-pip-version-check \
        "bareASGI==4.4.0" "bareutils==4.0.2" "jetblack-asgi-typing==0.4.0" "uvicorn==0.30.6" "h11==0.16.0" "click==8.1.7"
    touch "$cache/venv/.complete"
fi
