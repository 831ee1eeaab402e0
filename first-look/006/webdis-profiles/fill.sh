#!/bin/sh
# fill.sh DIR : makes DIR/dump.rdb with 150 000 sessions and 500 profiles
set -e
S="$1/fill.sock"
redis-server --port 0 --unixsocket "$S" --dir "$1" --save "" --appendonly no --daemonize yes --pidfile "$1/fill.pid"
while ! redis-cli -s "$S" ping >/dev/null 2>&1; do sleep 0.2; done
redis-cli -s "$S" eval 'for i=1,150000 do redis.call("SET","session:"..i,"user="..(i%500)..";csrf="..redis.sha1hex(i)) end' 0
redis-cli -s "$S" eval 'for i=1,500 do redis.call("SET","profile:"..i,cjson.encode({id=i,name="member "..i,city="Ghent"})) end' 0
redis-cli -s "$S" save
redis-cli -s "$S" shutdown nosave || true
