#!/bin/sh
# prepare.sh CACHE: the Zipkin server from Maven Central
set -e
mkdir -p "$1"
[ -f "$1/zipkin.jar" ] && exit 0
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
    -Dartifact=io.zipkin:zipkin-server:3.4.4:jar:exec -DoutputDirectory="$1/lib" -Dmdep.stripVersion=true
mv "$1"/lib/*.jar "$1/zipkin.jar"
