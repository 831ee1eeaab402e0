#!/bin/sh
# start.sh PORT CONF
d=$(mktemp -d /tmp/apache-XXXXXX); chmod 755 "$d"
export PORT="$1" RUN="$d" SITE="$(cd "$(dirname "$0")" && pwd)/site"
exec apache2 -f "$(dirname "$0")/$2" -DFOREGROUND
