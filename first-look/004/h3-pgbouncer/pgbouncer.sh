#!/bin/sh
# pgbouncer.sh PORT TMP POSTGRES_PORT POOL_SIZE
chmod 755 "$2"; dir=$2/pgbouncer; mkdir -p "$dir"
echo '"postgres" ""' > "$dir/userlist.txt"
cat > "$dir/pgbouncer.ini" <<INI
[databases]
shop = host=127.0.0.1 port=$3 dbname=shop
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $1
unix_socket_dir =
auth_type = trust
auth_file = $dir/userlist.txt
admin_users = postgres
pool_mode = transaction
default_pool_size = $4
max_client_conn = 200
INI
chown -R postgres: "$dir"
cd /
exec setpriv --reuid=postgres --regid=postgres --clear-groups /usr/sbin/pgbouncer "$dir/pgbouncer.ini"
