#!/bin/sh
set -e
here=$1; cache=$2
mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$cache/lib"
mkdir -p "$cache/classes"
exec java -cp "$cache/lib/*" scala.tools.nsc.Main -usejavacp -d "$cache/classes" "$here/Sessions.scala"
