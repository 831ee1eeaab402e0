#!/bin/sh
# Apache Traffic Server as reverse proxy: ats.sh PORT TMP DNS_PORT ORIGIN_PORT
set -e
port=$1; root=$2/ats; dns=$3; origin=$4
rm -rf "$root"; mkdir -p "$root/etc" "$root/run" "$root/log" "$root/cache"
cp /etc/trafficserver/* "$root/etc/" 2>/dev/null || true
cat > "$root/etc/remap.config" <<CONF
map / http://catalog.shop.test:$origin/
CONF
echo "$root/cache 64M" > "$root/etc/storage.config"
cat > "$root/etc/records.config" <<CONF
CONFIG proxy.config.http.server_ports STRING $port:ip-in=127.0.0.1
CONFIG proxy.config.http.insert_response_via_str INT 0
CONFIG proxy.config.dns.nameservers STRING 127.0.0.1:$dns
CONFIG proxy.config.dns.resolv_conf STRING NULL
CONFIG proxy.config.hostdb.ttl_mode INT 0
CONFIG proxy.config.hostdb.serve_stale_for INT 0
CONFIG proxy.config.hostdb.host_file.path STRING NULL
CONFIG proxy.config.reverse_proxy.enabled INT 1
CONFIG proxy.config.url_remap.remap_required INT 1
CONFIG proxy.config.admin.user_id STRING #-1
CONFIG proxy.config.exec_thread.autoconfig INT 0
CONFIG proxy.config.exec_thread.limit INT 2
CONFIG proxy.config.diags.logfile.filename STRING stderr
CONFIG proxy.config.http.cache.required_headers INT 0
CONF
cat > "$root/etc/runroot.yaml" <<CONF
prefix: $root
exec_prefix: /usr
bindir: /usr/bin
sbindir: /usr/sbin
sysconfdir: $root/etc
datadir: $root/cache
libdir: /usr/lib
libexecdir: /usr/lib/trafficserver/modules
localstatedir: $root/run
runtimedir: $root/run
logdir: $root/log
cachedir: $root/cache
CONF
chmod -R a+rwX "$2"
exec traffic_server --run-root="$root/etc/runroot.yaml"
