#!/bin/sh
# prepare.sh CACHE CASE: builds the server
set -eu
cache=$1
case=$2
mkdir -p "$cache/src"
cp -r "$case/Cargo.toml" "$case/src" "$cache/src/"
if [ -e "$case/Cargo.lock" ]; then cp "$case/Cargo.lock" "$cache/src/"; fi
cd "$cache/src"
CARGO_TARGET_DIR="$cache/target" nice -n 10 cargo build --release
