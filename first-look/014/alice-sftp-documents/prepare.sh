#!/bin/sh
# usage: prepare.sh CACHE CASE
set -e
mkdir -p "$1/docs"
for i in 1 2 3 4 5 6 7 8; do
  for j in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "policy $i, clause $j: the insurer pays for glass, water and storm."; done > "$1/docs/policy-$i.txt"
done
[ -f "$1/host_key" ] || ssh-keygen -q -t ed25519 -N '' -C host -f "$1/host_key"
[ -f "$1/user_key" ] || ssh-keygen -q -t ed25519 -N '' -C desk -f "$1/user_key"
cd "$2"
nice -n 10 go build -mod=readonly -o "$1/desk" .
