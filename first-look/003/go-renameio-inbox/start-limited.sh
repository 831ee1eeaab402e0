#!/bin/bash
# start-limited.sh PORT TMP SERVER BYTES: the server in a blkio cgroup with a write limit on the disk below TMP
mkdir -p $2/inbox
dev=$(stat -c %d $2)
exec $(dirname $0)/in-cgroup.sh blkio inbox-$1 "blkio.throttle.write_bps_device=$((dev >> 8)):$((dev & 255)) $4" -- $3 $1 $2/inbox
