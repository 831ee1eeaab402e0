#!/bin/sh
# prepare.sh CACHE CASE: checks that Ruby has async-http (Debian: ruby-async-http 0.59.5); nothing to build
set -eu
ruby -e 'require "async/http"; abort "async-http #{Async::HTTP::VERSION}" unless Async::HTTP::VERSION == "0.59.5"'
touch "$1/.complete"
