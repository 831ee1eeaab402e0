#!/bin/sh
set -e
for p in ruby puma ruby-sinatra ruby-redis ruby-connection-pool redis-server; do
  dpkg -s $p >/dev/null 2>&1 || apt-get install -y -q --no-install-recommends $p
done
