#!/bin/sh
# start.sh PORT TMP
here=$(dirname "$(readlink -f "$0")")
python3 "$here/fill.py" "$2/registry" > /dev/null
export REGISTRY_HTTP_ADDR=127.0.0.1:$1 REGISTRY_STORAGE_FILESYSTEM_ROOTDIRECTORY="$2/registry" OTEL_TRACES_EXPORTER=none
exec docker-registry serve "$here/registry.yml"
