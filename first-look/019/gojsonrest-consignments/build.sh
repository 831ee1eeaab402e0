#!/bin/bash
# build.sh CACHE CASE
# go-json-rest comes from Debian (golang-github-ant0ine-go-json-rest-dev), the other modules from the module proxy
set -e
cache=$1 case=$2
mkdir -p "$cache/src" "$cache/go-json-rest"
cp -r /usr/share/gocode/src/github.com/ant0ine/go-json-rest/rest "$cache/go-json-rest/"
printf 'module github.com/ant0ine/go-json-rest\n\ngo 1.21\n' > "$cache/go-json-rest/go.mod"
cp "$case"/*.go "$case/go.mod" "$cache/src/"
[ ! -e "$case/go.sum" ] || cp "$case/go.sum" "$cache/src/"
cd "$cache/src"
[ -e go.sum ] || GOFLAGS=-mod=mod go mod tidy
go build -p 1 -o "$cache/consignments" .
