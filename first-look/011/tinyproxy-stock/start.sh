#!/bin/sh
# $1 port, $2 scratch folder, $3 port of the stock application, $4 MaxClients
cat > "$2/tinyproxy.conf" <<C
Port $1
Listen 127.0.0.1
Timeout 60
MaxClients $4
LogFile "$2/tinyproxy.log"
LogLevel Notice
PidFile "$2/tinyproxy.pid"
Allow 127.0.0.1
ViaProxyName "stock"
ReverseOnly Yes
ReversePath "/" "http://127.0.0.1:$3/"
C
exec tinyproxy -d -c "$2/tinyproxy.conf"
