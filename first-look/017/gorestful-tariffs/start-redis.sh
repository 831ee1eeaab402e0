#!/bin/sh
exec redis-server --port "$1" --bind 127.0.0.1 --dir "$2" --save "" --appendonly no --daemonize no
