#!/bin/sh
# build.sh CASE CACHE
set -e
rm -rf "$2/src" "$2/lib"; mkdir -p "$2/src"; cp -r "$1/pom.xml" "$1/src" "$2/src/"
cd "$2/src"; mvn -q -B package dependency:copy-dependencies -DoutputDirectory="$2/lib"
cp target/shop-1.jar "$2/lib/"
