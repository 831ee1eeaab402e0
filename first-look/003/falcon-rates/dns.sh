#!/bin/sh
# dns.sh PORT: the node's dnsmasq at 127.171.5.3:53, the company's server at 127.0.0.1:PORT behind it
dnsmasq --keep-in-foreground --conf-file=/dev/null --user=root --pid-file= --no-resolv --no-hosts --bind-interfaces \
  --listen-address=127.171.5.3 --port=53 --local=/cluster.local/ --local=/vendor.test/ \
  --host-record=rates.vendor.test,127.0.0.1,0 --server=127.0.0.1#$1 &
exec python3 "$(dirname "$0")/corp_dns.py" "$1"
