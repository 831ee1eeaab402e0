#!/bin/sh
# start.sh CACHE CASE POOL_SIZE
. "$2/classpath.sh"
exec java -Xms256m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dclojure.core.async.pool-size="$3" -cp "$1/classes:$cp" voyages
