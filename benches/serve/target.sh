#!/bin/sh
# A `slowpath serve` over a store to which runs come while it answers: target.sh SLOWPATH STORE PORT SECONDS
set -eu
here=$(cd "$(dirname "$0")" && pwd)
slowpath=$(realpath "$1")
cd "$2"
python3 "$here/store.py" follow . "$4" &
exec "$slowpath" serve --listen "127.0.0.1:$3"
