#!/bin/sh
# start.sh PORT TMP: apache in the foreground
export PORT=$1 RUN=$2 CASE=$(cd "$(dirname "$0")" && pwd)
[ -x /usr/sbin/apache2 ] || exit 1
exec /usr/sbin/apache2 -f "$CASE/httpd.conf" -DFOREGROUND
