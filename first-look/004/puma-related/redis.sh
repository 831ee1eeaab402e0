#!/bin/sh
cd "$2" && exec redis-server --port "$1" --bind 127.0.0.1 --save "" --appendonly no --dir "$2"
