#!/bin/bash
# build.sh CACHE CASE        (api/ is what ogen 1.24 makes of openapi.yaml)
set -e
cache=$1 case=$2
mkdir -p "$cache"
cd "$case"
go build -p 1 -o "$cache/web" ./cmd/web
go build -p 1 -o "$cache/raters" ./cmd/raters
