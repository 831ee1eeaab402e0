#!/bin/sh
cd "$1/app" && exec node build/index.js
