#!/bin/bash
# start.sh PORT TMP SERVER MB LIMIT_MB: the server in a memory cgroup of its own, with a swap file
port=$1 tmp=$2 server=$3 mb=$4 limit=$5
dir=/sys/fs/cgroup/memory/orders-$port swap=$tmp/swap
fallocate -l $((mb + 64))M $swap; chmod 600 $swap
mkswap -q $swap && swapon $swap || exit 1
mkdir -p $dir; echo $((limit << 20)) > $dir/memory.limit_in_bytes; echo 100 > $dir/memory.swappiness
( echo $BASHPID > $dir/cgroup.procs; exec $server $port $mb ) & pid=$!
trap 'kill -TERM $pid 2>/dev/null' TERM INT
while kill -0 $pid 2>/dev/null; do wait $pid; done
swapoff $swap; rm -f $swap; rmdir $dir
