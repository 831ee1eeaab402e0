#!/bin/bash
# $1 cache folder: the service with its standard output in a pipe to the log shipper
exec node "$1/app.mjs" > >(exec node "$1/shipper.mjs")
