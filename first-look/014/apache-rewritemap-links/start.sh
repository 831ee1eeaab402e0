#!/bin/sh
# start.sh PORT TMP CACHE CASE: Apache with mod_rewrite and a map program
port=$1 tmp=$2 cache=$3 case=$4
mkdir -p "$tmp/www/pages"
cp "$cache/links.db" "$tmp/"
for p in p0 p1 p2 p3 p4 none; do echo "<!doctype html><title>$p</title><h1>Page $p</h1>" > "$tmp/www/pages/$p.html"; done
echo '<!doctype html><title>Links</title>' > "$tmp/www/index.html"
chmod -R a+rX "$tmp"
# Apache works as www-data: let it pass through the temporary folders above
d=$(dirname "$tmp"); while case "$d" in /tmp/?*) true;; *) false;; esac; do chmod a+x "$d"; d=$(dirname "$d"); done
sed -e "s|@PORT@|$port|g; s|@TMP@|$tmp|g; s|@CASE@|$case|g; s|@OLD@|$OLD_LINKS|g; s|@ARCHIVE@|$ARCHIVE_PORT|g" "$case/httpd.conf" > "$tmp/httpd.conf"
exec /usr/sbin/apache2 -f "$tmp/httpd.conf" -D FOREGROUND
