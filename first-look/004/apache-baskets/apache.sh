#!/bin/sh
# apache.sh PORT CASE
export HTTP_PORT=$1 CASE_DIR=$2 RUN_DIR=$(mktemp -d /tmp/baskets.XXXXXX)
exec apache2 -f "$2/httpd.conf" -DFOREGROUND
