#!/bin/sh
# start.sh CACHE
exec java -Xms256m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$1/target/classes:$1/lib/*" shop.Main
