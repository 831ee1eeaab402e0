#!/bin/sh
# prepare.sh CACHE CASE: the npm packages and the relay's certificate
set -e
mkdir -p "$1"
if [ ! -f "$1/relay.crt" ]; then
  openssl req -x509 -newkey rsa:2048 -nodes -keyout "$1/relay.key" -out "$1/new.crt" -days 3650 \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null
  mv "$1/new.crt" "$1/relay.crt"
fi
[ -d "$1/node_modules/@loopback/rest" ] && [ -d "$1/node_modules/smtp-server" ] && exit 0
cp "$2/package.json" "$1/"
cd "$1" && npm install --no-audit --no-fund --loglevel=error </dev/null
