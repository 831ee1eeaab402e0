#!/bin/sh
# start.sh PORT BLOCKS TMP
mkdir -p "$3/data" && cp -r "$2"/. "$3/data/"
echo 'global: { scrape_interval: 1m }' > "$3/prometheus.yml"
exec prometheus --config.file="$3/prometheus.yml" --storage.tsdb.path="$3/data" --storage.tsdb.retention.time=100y \
  --web.listen-address="127.0.0.1:$1" --query.max-concurrency="${QUERY_CONCURRENCY:-20}" --log.level=warn
