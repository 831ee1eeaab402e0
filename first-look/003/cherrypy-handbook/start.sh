#!/bin/bash
# start.sh PORT TMP PYTHON [bindfs options]: the handbook lies on another volume, mounted below TMP
port=$1 tmp=$2 python=$3; shift 3
mkdir -p $tmp/store $tmp/doc
for i in $(seq 0 13); do
  kb=4; [ $i = 3 ] && kb=1024
  head -c $((kb * 1024)) /dev/urandom | base64 -w 120 | head -c $((kb * 1024)) > $tmp/store/chapter-$i.html
done
exec unshare -m bash -c '
mount --make-rprivate /
bindfs -f "${@:5}" -o direct_io $2/store $2/doc & fs=$!
for i in $(seq 50); do mountpoint -q $2/doc && break; sleep 0.05; done
$3 $4/app.py $1 $2/doc & app=$!
trap "kill -TERM \$app 2>/dev/null" TERM INT
while kill -0 $app 2>/dev/null; do wait $app; done
umount -l $2/doc; kill $fs 2>/dev/null; wait $fs' run $port $tmp $python $(dirname $0) "$@"
