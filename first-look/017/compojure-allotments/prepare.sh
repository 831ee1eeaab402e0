#!/bin/sh
# prepare.sh CACHE CASE: compiles ahead of time to CACHE/classes
set -e
[ -f "$1/classes/allotments__init.class" ] && [ "$1/classes/allotments__init.class" -nt "$2/allotments.clj" ] && exit 0
rm -rf "$1/classes"
mkdir -p "$1/classes"
exec java -Xmx512m -cp "$1/classes:$2:$("$2/classpath.sh")" -Dclojure.compile.path="$1/classes" \
  clojure.main -e "(compile 'allotments)"
