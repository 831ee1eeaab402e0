#!/bin/sh
rm -rf "$(dirname "$DB")"
mkdir -p "$(dirname "$DB")"
exec "$@"
