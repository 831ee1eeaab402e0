#!/bin/sh
# prepare.sh CACHE CASE
set -e
cache=$1 case=$2
cd "$cache"
mvn -q -B -f "$case/pom.xml" dependency:copy-dependencies -DoutputDirectory="$cache/lib"
python3 "$case/make.py" > catalogue.xml
python3 "$case/members.py" > members.xml
rm -rf data; mkdir -p data
java -cp "$cache/lib/*" -Dorg.basex.path="$cache" -Dorg.basex.dbpath="$cache/data" org.basex.BaseX -c "$(cat "$case/create.bxs")"
