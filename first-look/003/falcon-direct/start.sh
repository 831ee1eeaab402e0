#!/bin/sh
# start.sh IOPS COMMAND...: runs the command on a small cloud volume, so to speak: its disk gives IOPS reads a second
iops=$1; shift
rmdir /sys/fs/cgroup/blkio/articles-* 2>/dev/null || true      # empty ones of earlier starts
g=/sys/fs/cgroup/blkio/articles-$$
mkdir -p $g
dev=$(lsblk -dno MAJ:MIN "$(df --output=source "$DB" | tail -1)" | tr -d ' ')
(sleep 1.5; echo "$dev $iops" > $g/blkio.throttle.read_iops_device) &      # once the programs are loaded
echo $$ > $g/cgroup.procs
exec "$@"
