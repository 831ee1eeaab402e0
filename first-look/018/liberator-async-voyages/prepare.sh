#!/bin/sh
# prepare.sh CACHE CASE: compiles the Clojure sources ahead of time
set -e
cache=$1; case=$2
. "$case/classpath.sh"
rm -rf "$cache/classes"
mkdir -p "$cache/classes"
cd "$case"
AIS_PORT=1 java -Dclojure.compile.path="$cache/classes" -cp "src:$cache/classes:$cp" clojure.lang.Compile voyages
