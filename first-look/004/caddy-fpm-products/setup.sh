#!/bin/sh
set -e
for p in caddy php8.2-fpm; do
  dpkg -s $p >/dev/null 2>&1 || apt-get install -y -q --no-install-recommends $p
done
