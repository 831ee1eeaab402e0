#!/bin/bash
# rsyslogd of the host: takes the audit trail on a datagram socket and gives it to the shipper
port=$1; tmp=$2; shared=$3; case=$4; queue=$5
mkdir -p "$shared"; rm -f "$shared"/*
cat > "$tmp/rsyslog.conf" <<C
global(workDirectory="$tmp")
main_queue(queue.type="$queue")
module(load="imuxsock" SysSock.Use="off")
module(load="imtcp")
module(load="omprog")
template(name="line" type="string" string="%timegenerated% %syslogtag%%msg%\n")
input(type="imtcp" address="127.0.0.1" port="$port")
input(type="imuxsock" Socket="$shared/audit.sock" RateLimit.Interval="0")
action(type="omprog" binary="/usr/bin/python3 $case/shipper.py $tmp/archive" template="line" confirmMessages="on" confirmTimeout="20000")
C
exec rsyslogd -n -f "$tmp/rsyslog.conf" -i "$tmp/rsyslogd.pid"
