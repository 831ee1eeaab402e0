#!/bin/sh
# usage: prepare.sh CACHE CASE
set -e
cd "$2"
nice -n 10 go build -mod=readonly -o "$1/stock" .
