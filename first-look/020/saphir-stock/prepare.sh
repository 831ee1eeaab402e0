#!/bin/bash
set -e
cache=$1; case=$2
mkdir -p "$cache"
cd "$case"
cargo build --release --locked --target-dir "$cache/target"
if [ ! -e "$cache/db/ready" ]; then
  rm -rf "$cache/db"
  mariadb-install-db --no-defaults --user=root --auth-root-authentication-method=normal --skip-test-db --datadir="$cache/db" > /dev/null
  touch "$cache/db/ready"
fi
