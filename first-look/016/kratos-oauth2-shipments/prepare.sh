#!/bin/bash
# prepare.sh CACHE CASE: builds both programs
set -e
mkdir -p "$1/bin"
cd "$2"
go build -o "$1/bin/" ./cmd/shop ./cmd/carrier
