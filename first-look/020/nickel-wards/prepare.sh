#!/bin/bash
set -e
cache=$1; case=$2
mkdir -p "$cache/shared"
cd "$case"
cargo build --release --locked --target-dir "$cache/target"
