#!/bin/sh
# start.sh PORT EBIN TMP
mkdir -p "$3/logs" "$3/www"; echo parcels > "$3/www/index.html"
cat > "$3/yaws.conf" <<C
logdir = $3/logs
ebin_dir = $2
max_connections = nolimit
keepalive_timeout = 60000
<server parcels>
  port = $1
  listen = 127.0.0.1
  docroot = $3/www
  access_log = false
  appmods = </parcels, parcels>
</server>
C
export HOME="$3"
exec erl -noinput -pa "$2"  -pa /usr/lib/yaws/ebin -conf "$3/yaws.conf" -run yaws -yaws id parcels
