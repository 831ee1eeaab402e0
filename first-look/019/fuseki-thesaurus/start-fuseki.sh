#!/bin/sh
# start-fuseki.sh PORT CACHE TMP CASE
set -eu
export FUSEKI_BASE="$3"
echo "$1" > "$2/shared/fuseki.new"
mv "$2/shared/fuseki.new" "$2/shared/fuseki.port"
sed "s/@PORT@/$1/" "$4/jetty.xml.in" > "$3/jetty.xml"
cd "$3"
exec java -Xms384m -Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -Xshare:auto -XX:SharedArchiveFile="$2/fuseki.jsa" \
    -Dlog4j2.configurationFile="$4/log4j2.properties" \
    -cp "$2/lib/*" org.apache.jena.fuseki.main.cmds.FusekiMainCmd \
    --jetty-config="$3/jetty.xml" --ping --update --file="$2/thesaurus.ttl" /thesaurus
