#!/bin/sh
set -e
cd "$1"
exec puma -C puma.rb config.ru
