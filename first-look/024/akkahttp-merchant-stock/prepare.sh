#!/bin/sh
# prepare.sh CACHE CASE: libraries from Maven Central, and the classes
set -eu
cache=$1
case=$2
if [ ! -e "$cache/lib.complete" ]; then
    rm -rf "$cache/lib"
    mvn -q -B -f "$case/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$cache/lib"
    touch "$cache/lib.complete"
fi
rm -rf "$cache/classes"
mkdir -p "$cache/classes"
javac -nowarn -d "$cache/classes" -cp "$cache/lib/*" "$case/src/Shop.java"
cp "$case/application.conf" "$cache/classes/application.conf"
