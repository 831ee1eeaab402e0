#!/bin/sh
# vm.sh PORT CACHE
D=$(mktemp -d)
cp -a "$2/data" "$D/data"
exec victoria-metrics -storageDataPath="$D/data" -httpListenAddr="127.0.0.1:$1" -retentionPeriod=1200
