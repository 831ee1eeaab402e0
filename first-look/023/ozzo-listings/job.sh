#!/bin/sh
# job.sh DB_PORT PROGRAM ARGUMENT ...: a job beside the service, once the database takes connections
set -eu
export DB_PORT="$1"
shift
exec "$@"
