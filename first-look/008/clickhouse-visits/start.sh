#!/bin/bash
# start.sh PORT FOLDER: ClickHouse with its HTTP interface on PORT and its data in FOLDER
set -e
mkdir -p "$2/data" "$2/tmp" "$2/formats"
cat > "$2/config.xml" <<X
<?xml version="1.0"?>
<yandex>
  <logger><level>warning</level><log>$2/server.log</log><errorlog>$2/error.log</errorlog></logger>
  <http_port>$1</http_port>
  <listen_host>127.0.0.1</listen_host>
  <max_connections>1024</max_connections>
  <keep_alive_timeout>30</keep_alive_timeout>
  <max_concurrent_queries>100</max_concurrent_queries>
  <mark_cache_size>536870912</mark_cache_size>
  <path>$2/data/</path>
  <tmp_path>$2/tmp/</tmp_path>
  <format_schema_path>$2/formats/</format_schema_path>
  <users_config>/etc/clickhouse-server/users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <timezone>UTC</timezone>
</yandex>
X
exec clickhouse-server --config-file="$2/config.xml"
