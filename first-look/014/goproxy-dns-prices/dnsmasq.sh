#!/bin/sh
# the resolver of the shop's network: dnsmasq, which forwards shop.internal
# usage: dnsmasq.sh PORT ZONE_PORT CACHE_SIZE
exec dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --no-hosts --no-poll \
  --user="$(id -un)" --group="$(id -gn)" --pid-file= --log-facility=- \
  --listen-address=127.0.0.1 --bind-interfaces --port="$1" \
  --cache-size="$3" --server="/shop.internal/127.0.0.1#$2" $DNSMASQ_EXTRA
