#!/bin/sh
# usage: prepare.sh CACHE CASE
set -e
cd "$2"
nice -n 10 cargo build --release --locked -j 1 --target-dir "$1/target"
