#!/bin/sh
# prepare.sh CACHE CASE: the service with its libraries, and the spool
set -eu
cache=$1
case=$2
mkdir -p "$cache/build"
cp -R "$case/pom.xml" "$case/src" "$cache/build/"
mvn -q -B -f "$cache/build/pom.xml" package
python3 "$case/make-batches.py" "$cache/spool"
