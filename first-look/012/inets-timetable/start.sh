#!/bin/sh
# $1 cache folder with the compiled module, $2 value of nodelay for listening sockets (a setting of Erlang's kernel application)
export ROOT="$1"
exec erl +S 2:2 +sbwt none -noinput -kernel inet_default_listen_options "[{nodelay,$2}]" -pa "$1" -eval 'ok = timetable:start().'
