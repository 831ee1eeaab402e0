#!/bin/sh
# prepare.sh CACHE CASE
set -e
mkdir -p "$1"
ruby -e 'require "active_record"; require "mysql2"; require "rack"'
exec "$2/prepare-db.sh" "$1/db" "$2/schema.sql"
