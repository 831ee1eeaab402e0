#!/bin/sh
# prepare.sh CACHE CASE: builds the server with fiber 2.26.0 and with 2.52.15, and the agency
set -eu
cache=$1
case=$2
mkdir -p "$cache/bin"
python3 "$case/boats.py" "$cache/boats.json"
build() {
    rm -rf "$cache/build"
    mkdir -p "$cache/build"
    cp "$case/server/main.go" "$cache/build/"
    cp "$case/server/go.mod.$1" "$cache/build/go.mod"
    (cd "$cache/build" && GOFLAGS=-mod=mod nice -n 10 go mod tidy && GOFLAGS=-mod=mod nice -n 10 go build -o "$cache/bin/charters-$2" .)
}
[ -x "$cache/bin/charters-2.26.0" ] || build sick 2.26.0
[ -x "$cache/bin/charters-2.52.15" ] || build fixed 2.52.15
[ -x "$cache/bin/agency" ] || (cd "$case/agency" && nice -n 10 go build -o "$cache/bin/agency" .)
