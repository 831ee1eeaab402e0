#!/bin/sh
# prepare.sh CACHE CASE: the service (release build) and a virtual environment for the database
set -eu
cache=$1
case=$2
if [ ! -e "$cache/venv/.complete" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install -q --disable-pip-version-check "aiohttp==3.10.11"
    touch "$cache/venv/.complete"
fi
mkdir -p "$cache/src"
cp -R "$case/service/." "$cache/src/"
cd "$cache/src"
CARGO_TARGET_DIR="$cache/target" cargo build --release --locked
