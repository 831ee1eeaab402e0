#!/bin/sh
# $1 cache folder: compiles Hunchentoot and what it needs once
export XDG_CACHE_HOME="$1/fasl"
exec sbcl --noinform --non-interactive --no-userinit --eval '(require :asdf)' --eval '(asdf:load-system :hunchentoot)' --eval '(sb-ext:exit)' > "$1/compile.log" 2>&1
