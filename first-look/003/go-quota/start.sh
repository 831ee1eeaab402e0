#!/bin/sh
# $1 program, $2 cpus of the container in thousandths (0: none)
rmdir /sys/fs/cgroup/cpu/articles-* 2>/dev/null # of earlier runs, empty
if [ "$2" != 0 ]; then
  g=/sys/fs/cgroup/cpu/articles-$$
  mkdir -p "$g"
  echo 100000 > "$g/cpu.cfs_period_us"
  echo $(($2 * 100)) > "$g/cpu.cfs_quota_us"
  echo $$ > "$g/cgroup.procs"
fi
exec "$1"
