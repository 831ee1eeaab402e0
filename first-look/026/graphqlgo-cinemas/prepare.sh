#!/bin/sh
# prepare.sh CACHE CASE: the service, built with the modules of go.sum
set -eu
cd "$2"
go build -mod=readonly -buildvcs=false -o "$1/cinemas" .
