#!/bin/sh
# start.sh PORT DATA TMP: serves a copy of the catalogue
cp -r "$2" "$3/data"
cd "$3"
exec etcd --name catalog --data-dir "$3/data" --listen-client-urls "http://127.0.0.1:$1" --advertise-client-urls "http://127.0.0.1:$1" \
  --listen-peer-urls "unix://peer:1" --initial-advertise-peer-urls "unix://peer:1" --initial-cluster "catalog=unix://peer:1" --force-new-cluster --logger zap --log-level error
