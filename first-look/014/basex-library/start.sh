#!/bin/sh
# start.sh PORT TMP CACHE CASE: takes in today's new title, then starts the HTTP server of BaseX
port=$1 tmp=$2 cache=$3 case=$4
set -e
cp -r "$cache/data" "$tmp/data"
mkdir -p "$tmp/webapp/WEB-INF"
cp "$case/webapp/library.xqm" "$tmp/webapp/"
cp "$case/webapp/web.xml" "$tmp/webapp/WEB-INF/"
sed "s|@PORT@|$port|" "$case/webapp/jetty.xml" > "$tmp/webapp/WEB-INF/jetty.xml"
basex() { java -cp "$cache/lib/*" -Dorg.basex.path="$tmp" -Dorg.basex.dbpath="$tmp/data" org.basex.BaseX "$@"; }
basex "insert node <title isbn='9789999999999'><name>New today</name><shelf>A1</shelf><copy barcode='B9999999' state='in'><branch>West</branch></copy></title> into db:open('library')/library"
if [ "$OPTIMIZE_AFTER_INTAKE" = yes ]; then
  basex -c "OPEN library; OPTIMIZE"
fi
python3 "$case/first.py" "$port" "$tmp/ready" &
export READY_FILE="$tmp/ready"
exec java -Xmx700m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$cache/lib/*" -Dorg.basex.path="$tmp" -Dorg.basex.dbpath="$tmp/data" -Dorg.basex.webpath="$tmp/webapp" \
  -Dorg.basex.restxqpath="$tmp/webapp" -Dorg.basex.httplocal=true -Dorg.basex.stopport=0 -Dorg.basex.log=false \
  -Dorg.basex.user=admin org.basex.BaseXHTTP -h"$port" -l
