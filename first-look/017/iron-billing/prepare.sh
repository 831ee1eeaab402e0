#!/bin/sh
# prepare.sh CACHE CASE
set -e
cd "$2"
CARGO_TARGET_DIR="$1/target" cargo build --release --quiet
