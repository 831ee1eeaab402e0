#!/bin/sh
# start.sh PORT TMP BACKEND: stunnel before a plain tile server
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=tiles.example \
  -keyout "$2/key.pem" -out "$2/cert.pem" 2>/dev/null
cat > "$2/stunnel.conf" <<C
foreground = yes
pid =
debug = warning
[tiles]
accept = 127.0.0.1:$1
connect = 127.0.0.1:$3
cert = $2/cert.pem
key = $2/key.pem
socket = l:TCP_NODELAY=1
socket = r:TCP_NODELAY=1
C
exec stunnel4 "$2/stunnel.conf"
