#!/bin/sh
set -e
here=$1; cache=$2
mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$cache/lib"
mkdir -p "$cache/classes"
exec java -cp "$cache/lib/*" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -cp "$(ls "$cache"/lib/*.jar | tr '\n' ':')" -jvm-target 17 -d "$cache/classes" "$here/Shop.kt"
