#!/bin/sh
# builds the server and its stand-in provider into $1
set -e
mkdir -p "$1/src"; cd "$(dirname "$0")"; cp -r *.go go.mod provider "$1/src/"; cd "$1/src"
go mod tidy; go build -o "$1/intake" .; go build -o "$1/provider" ./provider
