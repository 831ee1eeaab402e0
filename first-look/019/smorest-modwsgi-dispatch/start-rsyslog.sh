#!/bin/sh
# start-rsyslog.sh PORT TMP QUEUE_TYPE: the machine's syslog: a Unix socket for the programs here, TCP for others
set -e
port=$1 tmp=$2 queue=$3
# the socket lies where Apache's www-data may reach it
run=/tmp/smorest-modwsgi-dispatch-run
rm -rf "$run"
mkdir -m 755 "$run"
cat > "$tmp/rotate.sh" <<ROT
#!/bin/sh
# called by rsyslog when dispatch.log has its full size
cd "$tmp"
for i in 4 3 2 1; do
    [ -f dispatch.log.\$i.xz ] && mv -f dispatch.log.\$i.xz dispatch.log.\$((i + 1)).xz
done
mv -f dispatch.log dispatch.log.1
exec xz -9 -e -f dispatch.log.1
ROT
chmod +x "$tmp/rotate.sh"
cat > "$tmp/rsyslog.conf" <<CONF
global(workDirectory="$tmp" maxMessageSize="8k")
main_queue(queue.type="$queue" queue.size="50000")
module(load="imuxsock" SysSock.Use="off")
module(load="imtcp")
input(type="imuxsock" Socket="$run/log.sock" CreatePath="off" RateLimit.Interval="0")
input(type="imtcp" port="$port" address="127.0.0.1")
\$outchannel dispatch,$tmp/dispatch.log,190000,$tmp/rotate.sh
local3.* :omfile:\$dispatch
CONF
exec /usr/sbin/rsyslogd -n -f "$tmp/rsyslog.conf" -i "$tmp/rsyslogd.pid"
