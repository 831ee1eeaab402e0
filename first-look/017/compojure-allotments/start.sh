#!/bin/sh
# start.sh CASE CACHE
exec java -Xms256m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dclojure.core.async.pool-size="${ASYNC_POOL:-8}" \
  -cp "$2/classes:$("$1/classpath.sh")" clojure.main -m allotments
