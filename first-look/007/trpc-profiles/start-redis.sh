#!/bin/sh
# start-redis.sh PORT TMP: Redis with the sessions and profiles of all tenants
set -e
redis-server --bind 127.0.0.1 --port 0 --unixsocket "$2/r.sock" --dir "$2" --save "" --dbfilename dump.rdb --daemonize yes --pidfile "$2/first.pid" >/dev/null
until redis-cli -s "$2/r.sock" ping >/dev/null 2>&1; do sleep 0.1; done
redis-cli -s "$2/r.sock" eval "for i = 1, 500000 do redis.call('set', 'session:' .. (i % 5000) .. ':' .. i, i) end
for i = 1, 2000 do redis.call('hset', 'profile:' .. i, 'name', 'user ' .. i, 'mail', 'u' .. i .. '@example.org', 'tenant', i % 5000) end" 0 >/dev/null
redis-cli -s "$2/r.sock" shutdown save >/dev/null
exec redis-server --bind 127.0.0.1 --port "$1" --dir "$2" --save "" --dbfilename dump.rdb
