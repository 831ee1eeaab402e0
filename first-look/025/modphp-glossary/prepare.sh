#!/bin/sh
# prepare.sh CACHE CASE: the database of terms
set -eu
if [ ! -e "$1/glossary.db" ]; then
    rm -f "$1/glossary.new"
    python3 "$2/data.py" "$1/glossary.new"
    mv "$1/glossary.new" "$1/glossary.db"
fi
