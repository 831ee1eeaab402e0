#!/bin/sh
# prepare.sh CACHE CASE: the server, and the pressed fronts
set -eu
cache=$1
case=$2
CARGO_TARGET_DIR="$cache/target" cargo build --release --locked --quiet --manifest-path "$case/Cargo.toml"
python3 "$case/press.py" "$cache/pressed.json"
