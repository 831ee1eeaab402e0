#!/bin/sh
# prepare.sh CACHE CASE: builds the server
set -eu
cd "$2"
CARGO_TARGET_DIR="$1/target" cargo build --release --locked --quiet
