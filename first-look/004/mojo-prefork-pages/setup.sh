#!/bin/sh
set -e
dpkg -s libmojolicious-perl >/dev/null 2>&1 || apt-get install -y -q --no-install-recommends libmojolicious-perl
