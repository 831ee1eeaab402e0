#!/bin/sh
# start.sh CACHE TMP
exec java -Xms256m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.io.tmpdir="$2" \
  -cp "$1/build/target/classes:$1/build/lib/*" directory.Main
