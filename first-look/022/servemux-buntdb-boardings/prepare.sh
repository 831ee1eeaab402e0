#!/bin/sh
# prepare.sh CACHE CASE: builds the server into CACHE
set -e
mkdir -p "$1"
cd "$2"
go build -o "$1/boardings" .
