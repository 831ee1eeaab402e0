#!/bin/sh
# prepare.sh CACHE CASE: both binaries (tower-sessions 0.5.1 and 0.6.0), built into CACHE/target
set -eu
cache=$1
case=$2
mkdir -p "$cache/build"
cp -r "$case/Cargo.toml" "$case/Cargo.lock" "$case/src" "$case/sick" "$case/healthy" "$cache/build/"
cd "$cache/build"
CARGO_TARGET_DIR="$cache/target" nice -n 10 cargo build --release --locked --quiet
