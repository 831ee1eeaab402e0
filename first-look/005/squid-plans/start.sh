#!/bin/sh
# start.sh PORT APP_PORT ACCOUNTS_PORT TMP
cat > "$4/squid.conf" <<C
http_port 127.0.0.1:$1 accel defaultsite=api.example vhost
cache_peer 127.0.0.1 parent $2 0 no-query originserver name=app
cache deny all
cache_mem 8 MB
access_log none
cache_log /dev/stderr
cache_store_log none
pid_filename none
coredump_dir /tmp
shutdown_lifetime 1 seconds
visible_hostname edge
via off
pinger_enable off
forwarded_for delete
external_acl_type plan ttl=300 negative_ttl=10 children-max=${PLAN_CHECKERS:-5} children-startup=${PLAN_CHECKERS:-5} children-idle=1 queue-size=400 %>{X-Account} /usr/bin/env python3 $(dirname "$(readlink -f "$0")")/plan.py $3
acl api urlpath_regex ^/api/
acl plan_ok external plan
http_access allow api plan_ok
http_access deny api
http_access allow all
cachemgr_passwd none all
C
exec squid -N -f "$4/squid.conf"
