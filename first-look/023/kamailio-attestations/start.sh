#!/bin/sh
# start.sh PORT DB_PORT TMP
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$3/kam"
sed -e "s/@PORT@/$1/" -e "s/@DB@/$2/" "$here/kamailio.cfg.in" >"$3/kam/kamailio.cfg"
exec kamailio -f "$3/kam/kamailio.cfg" -DD -E -m 64 -M 8 -w "$3/kam" -Y "$3/kam" -P "$3/kam/kamailio.pid"
