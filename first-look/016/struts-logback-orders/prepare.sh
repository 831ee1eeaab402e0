#!/bin/bash
# prepare.sh CACHE CASE: builds the server into CACHE/app
set -e
cache="$1"; case="$2"
mkdir -p "$cache/build" "$cache/app"
cp -r "$case/pom.xml" "$case/src" "$cache/build/"
cd "$cache/build"
mvn -q -B compile dependency:copy-dependencies -DoutputDirectory="$cache/app/lib" </dev/null
rm -rf "$cache/app/classes"; cp -r target/classes "$cache/app/classes"
