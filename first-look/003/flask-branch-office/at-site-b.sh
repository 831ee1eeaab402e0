#!/bin/bash
# at-site-b.sh LINK_PORT command: runs the command at the far site
for i in $(seq 100); do [ -s /tmp/link-$1 ] && break; sleep 0.05; done
read -r a b < /tmp/link-$1; shift
exec nsenter --net=$b "$@"
