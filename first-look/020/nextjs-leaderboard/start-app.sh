#!/bin/bash
# usage: start-app.sh CACHE
cd "$1/app/.next/standalone" || exit 1
exec node server.js
