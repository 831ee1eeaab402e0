#!/bin/sh
# usage: prepare.sh CACHE CASE
set -e
mkdir -p "$1/build"
[ -e "$1/build/done" ] && [ -z "$(find "$2/src" "$2/pom.xml" -newer "$1/build/done" -type f)" ] && exit 0
mvn -q -B -f "$2/pom.xml" -Dout="$1/build" -DskipTests package </dev/null
touch "$1/build/done"
