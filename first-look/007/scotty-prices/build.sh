#!/bin/sh
# build.sh CACHE
set -e
cp "$(dirname "$0")/Main.hs" "$1/"
cd "$1"
exec ghc -O1 -threaded -rtsopts -package scotty -outputdir "$1/obj" -o "$1/prices" Main.hs
