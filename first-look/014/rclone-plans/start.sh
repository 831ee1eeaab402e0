#!/bin/sh
# start.sh PORT TMP: rclone as a web server in front of the store
export RCLONE_CONFIG="$2/rclone.conf"
touch "$RCLONE_CONFIG"
exec rclone serve http :http: --http-url "http://127.0.0.1:$STORE_PORT/" --addr "127.0.0.1:$1" \
  --read-only --dir-cache-time 1h --cache-dir "$2/cache" --log-level INFO $RCLONE_LIMITS
