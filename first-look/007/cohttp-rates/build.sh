#!/bin/sh
# build.sh CACHE
set -e
cp "$(dirname "$0")/server.ml" "$1/server.ml"
cd "$1"
exec ocamlfind ocamlopt -thread -package threads.posix,cohttp-lwt-unix -linkpkg server.ml -o server
