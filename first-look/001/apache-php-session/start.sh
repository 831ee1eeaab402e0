#!/bin/sh
d=$(mktemp -d /tmp/apache-php-XXXXXX); mkdir "$d/sessions"; chmod 755 "$d"; chown www-data "$d/sessions"
export PORT="$1" RUN="$d" SITE="$(cd "$(dirname "$0")" && pwd)/site"
exec apache2 -f "$(dirname "$0")/httpd.conf" -DFOREGROUND
