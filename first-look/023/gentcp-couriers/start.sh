#!/bin/sh
# start.sh CACHE MODULE ARGUMENT ...: runs MODULE.main; the schedulers do not spin when they are idle
set -eu
cache=$1 module=$2
shift 2
arguments=
for a in "$@"; do arguments="$arguments\"$a\", "; done
export HOME="${HOME:-/}" ERL_CRASH_DUMP=/dev/null ERL_FLAGS="+sbwt none +sbwtdcpu none +sbwtdio none"
exec elixir -pa "$cache/ebin" -e "$module.main([${arguments%, }])"
