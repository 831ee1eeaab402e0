#!/bin/sh
# start.sh PORT CACHE CASE MEM_MAX_SPANS
# fills the store from the recorded traffic beside the start of the server
python3 "$3/seed.py" "$1" &
export MEM_MAX_SPANS=$4 ZIPKIN_SELF_TRACING_ENABLED=false
exec java -Xms768m -Xmx768m -Darmeria.ports[0].ip=127.0.0.1 -Darmeria.ports[0].port=$1 \
    -Darmeria.ports[0].protocols[0]=http -Dserver.port=$1 -jar "$2/zipkin.jar"
