#!/bin/sh
# webdis.sh PORT REDISPORT
F=$(mktemp)
cat > "$F" <<J
{
  "redis_host": "127.0.0.1", "redis_port": $2, "redis_auth": null,
  "http_host": "127.0.0.1", "http_port": $1,
  "threads": 4, "pool_size": 4,
  "daemonize": false, "websockets": false, "database": 0,
  "acl": [ { "disabled": ["DEBUG", "FLUSHALL", "SHUTDOWN"] } ],
  "verbosity": 3, "logfile": "/dev/null"
}
J
exec webdis "$F"
