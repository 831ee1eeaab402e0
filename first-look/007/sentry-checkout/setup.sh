#!/bin/sh
# builds the server and its stand-in collector into $1
set -e
mkdir -p "$1/src"; cd "$(dirname "$0")"; cp -r *.go go.mod collector "$1/src/"; cd "$1/src"
go mod tidy; go build -o "$1/checkout" .; go build -o "$1/collector" ./collector
