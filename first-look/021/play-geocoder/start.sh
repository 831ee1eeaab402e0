#!/bin/sh
# usage: start.sh CACHE TMP
export PLAY_DIR="$2"
exec java -Xms256m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$1/build/classes:$1/build/lib/*" geo.Main
