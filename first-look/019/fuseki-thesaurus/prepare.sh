#!/bin/sh
# prepare.sh CACHE CASE: fetches Fuseki and writes the thesaurus
set -eu
cache=$1
case=$2
mkdir -p "$cache/lib" "$cache/shared"
mvn -q -B -f "$case/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$cache/lib"
python3 "$case/thesaurus.py" > "$cache/thesaurus.ttl"
# class data archive, for quick starts
cd "$cache"
rm -f "$cache/fuseki.jsa"
java -Xms384m -Xmx384m -XX:+UseSerialGC -XX:ArchiveClassesAtExit="$cache/fuseki.jsa" \
    -Dlog4j2.configurationFile="$case/log4j2.properties" -cp "$cache/lib/*" \
    org.apache.jena.fuseki.main.cmds.FusekiMainCmd --port=0 --localhost --ping --update \
    --file="$cache/thesaurus.ttl" /thesaurus &
java=$!
sleep 12
kill "$java"
wait "$java" || true
test -s "$cache/fuseki.jsa"
