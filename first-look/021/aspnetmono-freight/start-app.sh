#!/bin/sh
# $1 = port, $2 = scratch, $3 = cache
export TMPDIR="$2" MONO_THREADS_PER_CPU=20
exec fastcgi-mono-server4 --socket="tcp:127.0.0.1:$1" --root="$3/site" --applications=/:"$3/site"
