#!/bin/sh
# prepare.sh CACHE CASE
set -e
mkdir -p "$1"
cd "$2"
exec go build -o "$1/certificates" .
