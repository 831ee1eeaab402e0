#!/bin/sh
# prepare.sh CACHE CASE: builds the server and collects its libraries
set -e
cache=$1; case=$2
rm -rf "$cache/build"
mkdir -p "$cache/build"
cp -r "$case/pom.xml" "$case/src" "$cache/build/"
cd "$cache/build"
mvn -q -B compile dependency:copy-dependencies -DoutputDirectory="$cache/build/lib" -DincludeScope=runtime
