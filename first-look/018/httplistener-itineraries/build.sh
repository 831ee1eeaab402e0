#!/bin/sh
set -e
mkdir -p "$1"
mcs -optimize+ -out:"$1/server.exe.new" "$2/Server.cs"
mv "$1/server.exe.new" "$1/server.exe"
