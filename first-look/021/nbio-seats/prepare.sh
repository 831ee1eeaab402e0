#!/bin/sh
# usage: prepare.sh CACHE CASE
set -e
mkdir -p "$1/bin"
cd "$2"
go build -buildvcs=false -o "$1/bin/seats" . </dev/null
