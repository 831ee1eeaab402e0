#!/bin/bash
# build.sh CACHE CASE
set -e
cache=$1 case=$2
mkdir -p "$cache/lib" "$cache/classes"
if [ ! -e "$cache/lib/.done" ]; then
  mvn -q -B -f "$case/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
      -DoutputDirectory="$cache/lib" -DincludeScope=runtime
  touch "$cache/lib/.done"
fi
javac -nowarn -d "$cache/classes" -cp "$cache/lib/*" "$case"/src/*.java
cp "$case/fares.graphqls" "$cache/classes/"
