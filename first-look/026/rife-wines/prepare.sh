#!/bin/sh
# prepare.sh CACHE CASE: the jars from Maven Central, and the compiled service
set -eu
cache=$1
case=$2
if [ ! -e "$cache/lib/.complete" ]; then
    rm -rf "$cache/lib"
    mvn -q -B -f "$case/pom.xml" dependency:copy-dependencies -DoutputDirectory="$cache/lib"
    touch "$cache/lib/.complete"
fi
rm -rf "$cache/classes"
mkdir -p "$cache/classes"
cp "$case/conf/logback.xml" "$cache/classes/"
javac -nowarn -cp "$cache/lib/*" -d "$cache/classes" "$case/src/Wines.java"
