#!/bin/sh
port=$1 tmp=$2 case=$3 venv=$4 shared=$5
cat >"$tmp/kinto.ini" <<INI
[server:main]
use = egg:waitress#main
host = 127.0.0.1
port = $port
threads = 32

[app:main]
use = egg:kinto
kinto.includes = notices_plugin
kinto.storage_backend = kinto.core.storage.memory
kinto.cache_backend = kinto.core.cache.memory
kinto.permission_backend = kinto.core.permission.memory
kinto.userid_hmac_secret = notices

[loggers]
keys = root, summary, kinto

[handlers]
keys = console

[formatters]
keys = json

[logger_root]
level = WARNING
handlers = console

[logger_kinto]
level = WARNING
handlers = console
qualname = kinto
propagate = 0

[logger_summary]
level = $SUMMARY_LEVEL
handlers = console
qualname = request.summary
propagate = 0

[handler_console]
class = StreamHandler
args = (sys.stderr,)
level = NOTSET
formatter = json

[formatter_json]
class = kinto.core.JsonLogFormatter
INI
export PYTHONPATH="$case" PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
exec "$venv/bin/pserve" "$tmp/kinto.ini" 2>"$shared/log.pipe"
