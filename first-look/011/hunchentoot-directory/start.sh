#!/bin/sh
# PORT and NODELAY come from the environment; $1 cache folder, $2 folder of the case
export XDG_CACHE_HOME="$1/fasl"
exec sbcl --noinform --non-interactive --no-userinit --load "$2/app.lisp"
