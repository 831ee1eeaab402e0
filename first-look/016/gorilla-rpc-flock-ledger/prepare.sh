#!/bin/bash
# prepare.sh CACHE CASE: builds the server
set -e
mkdir -p "$1/bin"
cd "$2"
go build -o "$1/bin/ledger" .
