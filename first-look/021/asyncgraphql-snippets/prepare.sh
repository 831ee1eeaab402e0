#!/bin/sh
# prepare.sh CACHE CASE: builds the server
set -e
mkdir -p "$1"
cd "$2"
CARGO_TARGET_DIR="$1/target" nice cargo build --release --locked -q
