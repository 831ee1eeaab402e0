#!/bin/bash
# start.sh PORT FOLDER: lighttpd, with MapServer as its FastCGI program
set -e
R=$(mktemp -d /tmp/maps.XXXXXX)
cp "$(dirname "$0")/parcels.map" "$2/"
printf 'CONFIG\n  ENV\n    MS_MAP_PATTERN "."\n  END\n  MAPS\n    parcels "%s"\n  END\nEND\n' "$2/parcels.map" > "$R/mapserver.conf"
cat > "$R/lighttpd.conf" <<X
server.modules = ( "mod_fastcgi" )
server.bind = "127.0.0.1"
server.port = $1
server.document-root = "$R"
server.max-keep-alive-requests = 100000
server.max-keep-alive-idle = 60
server.errorlog = "$R/error.log"
fastcgi.server = ( "/wms" => (( "bin-path" => "/usr/bin/mapserv", "socket" => "$R/mapserv.sock",
  "max-procs" => ${MAPSERV_PROCS:-1}, "check-local" => "disable",
  "bin-environment" => ( "MAPSERVER_CONFIG_FILE" => "$R/mapserver.conf" ) )) )
X
exec lighttpd -D -f "$R/lighttpd.conf"
