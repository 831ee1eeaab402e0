#!/bin/bash
# redis.sh PORT TMP KEYS BYTES
cd $2
D=$(mktemp -d /dev/shm/sessions.XXXXXX)
# filled on a Unix socket first: the port opens when the data is there
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf $D; exit 0' TERM INT
redis-server --port 0 --unixsocket $PWD/s --save '' --dbfilename dump.rdb --dir $D --enable-debug-command local --rdbcompression no --rdbchecksum no --rdb-save-incremental-fsync no --appendonly no &
r=$!
until redis-cli -s s ping >/dev/null 2>&1; do sleep 0.05; done
redis-cli -s s debug populate $3 key $4 >/dev/null
redis-cli -s s mset alpha:ann 1 alpha:bob 1 beta:cid 1 beta:dan 1 >/dev/null
redis-cli -s s config set port $1 >/dev/null
wait $r
