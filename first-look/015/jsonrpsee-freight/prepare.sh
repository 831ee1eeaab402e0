#!/bin/sh
set -e
mkdir -p "$1"
CARGO_TARGET_DIR="$1/target" cargo build --release --manifest-path "$2/Cargo.toml"
