#!/bin/sh
# $1 port of the HTTP API, $2 cache folder with the prepared database, $3 scratch folder; DNS itself listens beside it, on 127.0.0.2
exec pdns_server --no-config --config-dir="$3" --launch=gsqlite3 --gsqlite3-database="$2/pdns.db" --gsqlite3-pragma-synchronous=0 \
  --daemon=no --guardian=no --socket-dir="$3" --local-address=127.0.0.2 --local-port="$1" \
  --webserver=yes --webserver-address=127.0.0.1 --webserver-port="$1" --webserver-allow-from=127.0.0.1 \
  --api=yes --api-key=registry --loglevel=3 --disable-syslog=yes --receiver-threads=1 --distributor-threads=1
