#!/bin/sh
# builds the server into $1
set -e
mkdir -p "$1/src"; cd "$(dirname "$0")"; cp *.go go.mod "$1/src/"; cd "$1/src"
go mod tidy; go build -o "$1/recipes" .
