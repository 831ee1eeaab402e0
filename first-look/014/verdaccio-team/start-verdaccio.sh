#!/bin/sh
# start-verdaccio.sh APP PORT DIR UPLINK_PORT MAXAGE
# Writes the config of this run (empty storage) and becomes Verdaccio.
set -e
mkdir -p "$3/storage"
cat > "$3/config.yaml" <<EOF
storage: $3/storage
web:
  enable: false
auth:
  htpasswd:
    file: $3/htpasswd
    max_users: -1
uplinks:
  company:
    url: http://127.0.0.1:$4/
    maxage: $5
    timeout: 30s
    agent_options:
      keepAlive: true
packages:
  '**':
    access: \$all
    publish: \$authenticated
    proxy: company
server:
  keepAliveTimeout: 75
log: { type: stdout, format: json, level: ${LOG_LEVEL:-warn} }
EOF
cd "$3"
exec node "$1/node_modules/verdaccio/bin/verdaccio" --config "$3/config.yaml" --listen "127.0.0.1:$2"
