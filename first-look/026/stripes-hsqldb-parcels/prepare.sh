#!/bin/sh
# prepare.sh CACHE CASE: builds the desk with Maven into CACHE/app
set -eu
cache=$1
case=$2
mkdir -p "$cache/app"
rm -rf "$cache/app/src"
cp -r "$case/pom.xml" "$case/src" "$cache/app/"
cd "$cache/app"
nice -n 10 mvn -q -B -DskipTests package >&2
test -f "$cache/app/target/desk.jar"
