#!/bin/sh
# pod.sh COMMAND...: run it with the resolv.conf of a Kubernetes pod (own mount namespace)
f=$(mktemp)
cat > $f <<R
nameserver 127.171.5.3
search shop.svc.cluster.local svc.cluster.local cluster.local eu.corp.example corp.example
options ndots:${NDOTS:-5}
R
mount --bind $f /etc/resolv.conf
rm -f $f
exec "$@"
