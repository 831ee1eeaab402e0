#!/bin/sh
# start-pgbouncer.sh PORT TMP DBPORT: PgBouncer in front of it, transaction pooling, 15 server connections
set -eu
. "$(dirname "$0")/pg.sh"
mkdir -p "$2/pgb"
echo '"explorer" "explorer-secret"' >"$2/pgb/users.txt"
cat >"$2/pgb/pgbouncer.ini" <<INI
[databases]
explorer = host=127.0.0.1 port=$3 dbname=explorer
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $1
unix_socket_dir =
auth_type = scram-sha-256
auth_file = users.txt
pool_mode = transaction
default_pool_size = 15
max_client_conn = 2000
server_idle_timeout = 600
server_round_robin = 0
ignore_startup_parameters = extra_float_digits
INI
cd "$2/pgb"
as_pg "$2/pgb" /usr/sbin/pgbouncer pgbouncer.ini
