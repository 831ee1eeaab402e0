#!/bin/sh
# start.sh PORT TMP CACHE CASE: one Apache with mod_fcgid
port=$1 tmp=$2 cache=$3 case=$4
mkdir -p "$tmp/www/app" "$tmp/sock"
cp "$case/index.html" "$tmp/www/"
cp "$cache/quote.fcgi" "$tmp/www/app/quote.fcgi"
chmod -R a+rX "$tmp" ; chmod a+rwx "$tmp/sock"
# Apache works as www-data: let it pass through the temporary folders above
d=$(dirname "$tmp"); while case "$d" in /tmp/?*) true;; *) false;; esac; do chmod a+x "$d"; d=$(dirname "$d"); done
sed -e "s|@PORT@|$port|g; s|@TMP@|$tmp|g; s|@MAX@|$FCGI_PROCESSES|g; s|@TARIFF@|$TARIFF_PORT|g" "$case/httpd.conf" > "$tmp/httpd.conf"
# first customers: the FastCGI processes are running before the measurement begins
python3 "$case/first.py" "$port" "$FCGI_PROCESSES" "$tmp/www/ready.txt" &
exec /usr/sbin/apache2 -f "$tmp/httpd.conf" -D FOREGROUND
