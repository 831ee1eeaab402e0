#!/bin/sh
# prepare.sh CACHE CASE: libraries and classes in CACHE
set -e
cache=$1 case=$2
mkdir -p "$cache/classes"
[ -e "$cache/lib.done" ] || {
    mvn -q -B -f "$case/pom.xml" dependency:copy-dependencies -DoutputDirectory="$cache/lib" </dev/null
    touch "$cache/lib.done"
}
[ "$cache/classes/recalls/Main.class" -nt "$case/src/recalls/Main.java" ] ||
    javac -nowarn -parameters -cp "$cache/lib/*" -d "$cache/classes" "$case"/src/recalls/*.java
cp "$case/application.properties" "$cache/classes/"
