#!/bin/sh
# prepare.sh CACHE CASE: Debian's package of rack-proxy, unpacked into CACHE
set -eu
cache=$1
mkdir -p "$cache"
if [ ! -e "$cache/gems/.complete" ]; then
    rm -rf "$cache/gems"
    mkdir -p "$cache/gems"
    cd "$cache/gems"
    apt-get download -q ruby-rack-proxy=0.7.4-1
    dpkg-deb -x ruby-rack-proxy_*.deb .
    touch .complete
fi
