#!/bin/sh
# prepare.sh CACHE CASE: gateway and filter
set -eu
cache=$1
case=$2
cd "$case"
for p in gateway filter; do
    nice -n 10 go build -buildvcs=false -o "$cache/$p.new" "./$p"
    mv "$cache/$p.new" "$cache/$p"
done
