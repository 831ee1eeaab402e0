#!/bin/sh
set -e
for p in ruby thin ruby-sinatra; do
  dpkg -s $p >/dev/null 2>&1 || apt-get install -y -q --no-install-recommends $p
done
