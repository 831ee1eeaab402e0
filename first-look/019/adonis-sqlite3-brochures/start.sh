#!/bin/sh
set -e
cache="$1"
cd "$cache/app"
export NODE_ENV=production BROCHURE_DIR="$cache/files" AUDIT_DB="$cache/shared/audit.sqlite"
exec node bin/server.js
