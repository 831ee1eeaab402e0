#!/bin/sh
set -e
port="$1"; cache="$2"
cd "$cache/app"
exec node consignments.mjs "$port" "$cache/shared/db.port"
