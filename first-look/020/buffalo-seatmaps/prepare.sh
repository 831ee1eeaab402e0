#!/bin/sh
# $1 = cache, $2 = case
set -e
mkdir -p "$1/src"
cp "$2/main.go" "$2/go.mod" "$2/go.sum" "$1/src/"
cd "$1/src"
go build -mod=mod -o "$1/seatmaps" .
