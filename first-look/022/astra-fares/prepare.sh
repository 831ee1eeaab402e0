#!/bin/sh
# prepare.sh CACHE CASE
set -e
mkdir -p "$1"
cargo build --release --locked --quiet --manifest-path "$2/Cargo.toml" --target-dir "$1/target"
