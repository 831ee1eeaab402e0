#!/bin/sh
# stdout of the node is what the platform's log driver reads
set -e
cache="$1"; case="$2"; tmp="$3"
sed -e "s/@SYNC_QLEN@/$LOG_SYNC_QLEN/" "$case/sys.config.in" > "$tmp/sys.config"
export ERL_LIBS="$cache/deps" ERL_CRASH_DUMP=/dev/null HOME="$tmp"
exec erl -noinput -start_epmd false +S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none -pa "$cache/ebin" -config "$tmp/sys" \
  -eval 'application:ensure_all_started(turnstiles).' >"$cache/shared/stdout.fifo"
