#!/bin/sh
# prepare.sh CACHE CASE: builds the server and the stand-in for the API server
set -e
cache=$1; case=$2
mkdir -p "$cache"
rm -rf "$cache/src"
mkdir "$cache/src"
cp -r "$case"/main.go "$case"/gen "$case"/apiserver "$case/go.mod" "$case/go.sum" "$cache/src/"
cd "$cache/src"
go build -p 1 -o "$cache/rollouts" .
go build -p 1 -o "$cache/apiserver" ./apiserver
