#!/bin/sh
# prepare.sh CACHE CASE: builds the service into CACHE/target
set -eu
cache=$1
case=$2
mkdir -p "$cache/src"
cp "$case/Cargo.toml" "$case/Cargo.lock" "$cache/"
cp "$case/src/main.rs" "$cache/src/"
cd "$cache"
exec nice -n 10 cargo build --release --locked --quiet --manifest-path "$cache/Cargo.toml" --target-dir "$cache/target"
