#!/bin/sh
# Cowboy 2.8, Cowlib, Ranch and jsx come from Debian's rabbitmq-server package (which ships them);
# the package is only unpacked, the broker is not installed.  Then the application is compiled.
set -e
cache="$1"; case="$2"
mkdir -p "$cache/deps" "$cache/ebin" "$cache/shared"
if [ ! -e "$cache/deps/.done" ]; then
  plugins=$(ls -d /usr/lib/rabbitmq/lib/rabbitmq_server-*/plugins 2>/dev/null | tail -1)
  if [ -z "$plugins" ]; then
    rm -rf "$cache/deb"; mkdir -p "$cache/deb"; cd "$cache/deb"
    apt-get download rabbitmq-server || { apt-get update; apt-get download rabbitmq-server; }
    dpkg -x rabbitmq-server_*.deb x
    plugins=$(ls -d "$cache"/deb/x/usr/lib/rabbitmq/lib/rabbitmq_server-*/plugins)
  fi
  for a in cowboy cowlib ranch jsx; do cp -r "$plugins"/$a-* "$cache/deps/"; done
  cd "$cache"; rm -rf "$cache/deb"; touch "$cache/deps/.done"
fi
cp "$case/src/turnstiles.app" "$cache/ebin/"
for f in "$case"/src/*.erl; do
  ERL_LIBS="$cache/deps" erlc +debug_info -o "$cache/ebin" "$f"
done
