#!/bin/sh
# prepare.sh CACHE CASE: builds the server with Maven, in CACHE
set -e
mkdir -p "$1/build"
cp -r "$2/pom.xml" "$2/src" "$1/build/"
cd "$1/build"
mvn -q -B -ntp package
