#!/bin/sh
# prepare.sh CACHE CASE: builds the gateway and lays out the spool
set -eu
cache=$1
case=$2
mkdir -p "$cache/src" "$cache/spool"
cp -r "$case/Cargo.toml" "$case/Cargo.lock" "$case/src" "$cache/src/"
cd "$cache/src"
CARGO_TARGET_DIR="$cache/target" cargo build --release --locked
cp "$cache/target/release/archive-gateway" "$cache/archive-gateway"
python3 "$case/spool.py" "$cache/spool"
