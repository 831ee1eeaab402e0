#!/bin/sh
# PHP's own server with four workers, in a cgroup: start.sh PORT QUOTA_PERCENT FOLDER (0: none)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "$2" = 0 ]; then
    exec env PHP_CLI_SERVER_WORKERS=4 php -S "127.0.0.1:$1" "$here/page.php" 2>/dev/null
fi
root=/sys/fs/cgroup/cpu
[ -e "$root/cgroup.procs" ] || root=/sys/fs/cgroup
group=$root/slowpath-case-$$
if ! mkdir "$group" 2>/dev/null; then
    echo "skipped: no cgroup may be made here" >&2
    exit 77
fi
# What is left of the group goes when its last process has ended.
end() {
    kill -TERM "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    while read -r pid; do kill -KILL "$pid" 2>/dev/null || true; done < "$group/cgroup.procs"
    for _ in 1 2 3 4 5 6 7 8 9 10; do rmdir "$group" 2>/dev/null && break; sleep 0.1; done
}
if [ -e "$group/cpu.max" ]; then
    echo "$((1000 * $2)) 100000" > "$group/cpu.max"
else
    echo 100000 > "$group/cpu.cfs_period_us"
    echo "$((1000 * $2))" > "$group/cpu.cfs_quota_us"
fi
sh -c 'echo $$ > "$1/cgroup.procs" && exec env PHP_CLI_SERVER_WORKERS=4 php -S "127.0.0.1:$2" "$3"' \
    sh "$group" "$1" "$here/page.php" 2>/dev/null &
server=$!
trap 'end; exit 0' TERM INT
wait "$server"
end
