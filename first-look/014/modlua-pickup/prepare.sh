#!/bin/sh
# nothing to build: Apache, mod_lua, lua-socket and lua-redis are Debian packages
set -e
test -f /usr/lib/apache2/modules/mod_lua.so
test -f /usr/share/lua/5.3/redis.lua
test -f /usr/share/lua/5.3/socket.lua
