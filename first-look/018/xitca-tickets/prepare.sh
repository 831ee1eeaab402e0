#!/bin/sh
# prepare.sh CACHE CASE: compile the server
set -e
cache=$1; case=$2
mkdir -p "$cache/src"
cp -r "$case/server/." "$cache/src/"
cd "$cache/src" && CARGO_TARGET_DIR="$cache/target" cargo build --release --locked
