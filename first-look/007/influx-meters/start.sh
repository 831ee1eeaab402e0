#!/bin/sh
# start.sh PORT DIRECTORY FSYNC-DELAY [DATA TO BEGIN WITH]
set -e
here=$(cd "$(dirname "$0")" && pwd)
dir="$2"
mkdir -p "$dir"
if [ -n "$4" ]; then
    dir=$(mktemp -d "$dir/influx.XXXXXX")
    cp -r "$4/meta" "$4/data" "$4/wal" "$dir/"
fi
rpc=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
sed "s#RPCPORT#$rpc#; s#PORT#$1#; s#FSYNC#$3#; s#DIR#$dir#g" "$here/influxdb.conf" > "$dir/influxdb.conf"
exec influxd -config "$dir/influxdb.conf"
