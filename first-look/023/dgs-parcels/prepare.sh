#!/bin/sh
# prepare.sh CACHE CASE: the classes of the service and the jars that it needs
set -eu
cache=$1
case=$2
if [ ! -e "$cache/.complete" ]; then
    rm -rf "$cache/build" "$cache/lib" "$cache/classes"
    mkdir -p "$cache/build"
    cp -r "$case/pom.xml" "$case/src" "$cache/build/"
    (cd "$cache/build" && mvn -q -B compile dependency:copy-dependencies \
        -DincludeScope=runtime -DoutputDirectory="$cache/lib")
    mv "$cache/build/target/classes" "$cache/classes"
    rm -rf "$cache/build"
    touch "$cache/.complete"
fi
