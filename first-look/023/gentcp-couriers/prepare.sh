#!/bin/sh
# prepare.sh CACHE CASE: compiled modules
set -eu
cache=$1 case=$2
erl -noshell -eval 'halt(case code:which(jiffy) of non_existing -> 1; _ -> 0 end).' ||
    { echo "apt-get install elixir erlang-nox erlang-jiffy" >&2; exit 1; }
if [ ! -e "$cache/ebin/.complete" ] || [ -n "$(find "$case/lib" -newer "$cache/ebin/.complete" -name '*.ex')" ]; then
    rm -rf "$cache/ebin" && mkdir -p "$cache/ebin"
    nice -n 10 elixirc -o "$cache/ebin" "$case"/lib/*.ex
    touch "$cache/ebin/.complete"
fi
