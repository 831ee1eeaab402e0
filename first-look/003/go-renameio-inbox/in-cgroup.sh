#!/bin/bash
# in-cgroup.sh CONTROLLER NAME file=value ... -- command: runs the command in a cgroup (v1) of its own and removes it afterwards
dir=/sys/fs/cgroup/$1/$2; shift 2
mkdir -p "$dir" || exit 1
while [ "$1" != -- ]; do echo "${1#*=}" > "$dir/${1%%=*}" || exit 1; shift; done
shift
( echo $BASHPID > "$dir/cgroup.procs"; exec "$@" ) & pid=$!
trap 'kill -TERM $pid 2>/dev/null' TERM INT
while kill -0 $pid 2>/dev/null; do wait $pid; rc=$?; done
for p in $(cat "$dir/cgroup.procs"); do kill $p 2>/dev/null; done
for i in 1 2 3 4 5 6 7 8 9 10; do rmdir "$dir" 2>/dev/null && break; sleep 0.1; done
exit $rc
