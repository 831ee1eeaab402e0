#!/bin/sh
set -e
for p in libdancer2-perl starman libmojolicious-perl libwww-perl; do
  dpkg -s $p >/dev/null 2>&1 || apt-get install -y -q --no-install-recommends $p
done
