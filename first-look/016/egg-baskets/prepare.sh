#!/bin/sh
# prepare.sh CACHE CASE: the npm packages and Redis' dump file with the baskets
set -e
mkdir -p "$1"
if [ ! -d "$1/node_modules/egg" ]; then
  cp "$2/package.json" "$1/"
  (cd "$1" && npm install --no-audit --no-fund --loglevel=error </dev/null)
fi
[ -f "$1/baskets.rdb" ] && exit 0
S="$1/fill.sock"
redis-server --port 0 --unixsocket "$S" --dir "$1" --dbfilename new.rdb --save "" --appendonly no >/dev/null &
R=$!
while ! redis-cli -s "$S" ping >/dev/null 2>&1; do sleep 0.2; done
redis-cli -s "$S" eval "for i = 1, 340000 do redis.call('SET', 'basket:' .. i, '{\"id\":' .. i .. ',\"lines\":[{\"sku\":' .. (i % 977) .. ',\"n\":' .. (1 + i % 4) .. '}]}') end return 'filled'" 0
redis-cli -s "$S" save >/dev/null
redis-cli -s "$S" shutdown nosave || true
wait $R || true
mv "$1/new.rdb" "$1/baskets.rdb"
