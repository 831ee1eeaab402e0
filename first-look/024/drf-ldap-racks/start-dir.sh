#!/bin/sh
# start-dir.sh PORT TMP TEMPLATE: slapd on a copy of the directory
set -eu
PATH=$PATH:/usr/sbin:/usr/local/sbin
cp -a "$3/data" "$2/data"
sed -e "s#^directory .*#directory $2/data#" -e "s#^pidfile .*#pidfile $2/slapd.pid#" "$3/slapd.conf" > "$2/slapd.conf"
exec slapd -d 0 -f "$2/slapd.conf" -h "ldap://127.0.0.1:$1"
