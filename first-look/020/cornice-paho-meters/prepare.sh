#!/bin/bash
set -e
cache=$1; here=$2
mkdir -p "$cache"
if [ ! -e "$cache/venv/.done" ]; then
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" -q install -r "$here/requirements.txt"
    touch "$cache/venv/.done"
fi
