#!/bin/sh
# start.sh PORT TMP
HERE=$(dirname "$(readlink -f "$0")")
cat > "$2/h2o.conf" <<C
user: root
num-threads: ${H2O_THREADS:-1}
listen: { host: 127.0.0.1, port: $1 }
access-log: /dev/null
error-log: /dev/stderr
http1-request-timeout: 60
hosts:
  "default":
    paths:
      "/near":
        mruby.handler-file: $HERE/shops.rb
      "/":
        file.dir: $HERE/www
C
exec h2o -m worker -c "$2/h2o.conf"
