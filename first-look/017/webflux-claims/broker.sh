#!/bin/sh
# broker.sh CACHE PORT
exec java -Xms128m -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$1/target/classes:$1/lib/*" insurer.Broker "$2"
