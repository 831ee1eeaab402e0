#!/bin/sh
# start.sh PORT EBIN
export PORT="$1"
exec erl -noshell -noinput +sbwt none -pa "$2" -pa /usr/lib/erlang/lib/mochiweb-*/ebin -s places start
