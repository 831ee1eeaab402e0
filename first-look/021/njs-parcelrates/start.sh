#!/bin/sh
# start.sh CASE TMP ; PORT, TARIFFS_PORT, TIMER_RESOLUTION (empty: none), ACCESS_LOG (timing log, normally off)
set -e
case_dir=$1 tmp=$2
chmod 755 "$tmp"
timer=""
[ -z "$TIMER_RESOLUTION" ] || timer="timer_resolution $TIMER_RESOLUTION;"
access=off
[ -z "$ACCESS_LOG" ] || access="$ACCESS_LOG timing"
sed -e "s|@CASE@|$case_dir|; s|@TMP@|$tmp|; s|@PORT@|$PORT|; s|@TARIFFS@|$TARIFFS_PORT|; s|@TIMER@|$timer|; s|@ACCESS@|$access|" \
    "$case_dir/nginx.conf.in" > "$tmp/nginx.conf"
exec /usr/sbin/nginx -p "$tmp" -e "$tmp/error.log" -c "$tmp/nginx.conf"
