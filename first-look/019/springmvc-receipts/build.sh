#!/bin/bash
# build.sh CACHE CASE
set -e
cache=$1 case=$2
mkdir -p "$cache"
mvn -q -B -f "$case/pom.xml" -Dout.dir="$cache/build" compile
if [ ! -e "$cache/lib/.done" ]; then
  mvn -q -B -f "$case/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
      -DoutputDirectory="$cache/lib" -DincludeScope=runtime
  touch "$cache/lib/.done"
fi
if [ ! -e "$cache/venv/.done" ]; then
  python3 -m venv "$cache/venv"
  "$cache/venv/bin/pip" -q install aiosmtpd==1.4.6
  touch "$cache/venv/.done"
fi
