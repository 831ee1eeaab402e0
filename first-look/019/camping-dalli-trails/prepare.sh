#!/bin/sh
# Debian's camping, ruby-dalli, ruby-connection-pool and puma are used as they are
set -e
exec ruby -e 'require "camping"; require "dalli"; require "connection_pool"; require "puma"'
