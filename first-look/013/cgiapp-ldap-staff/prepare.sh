#!/bin/sh
# $1 cache folder, $2 folder of the case: fills the directory, without and with the index on telephoneNumber
set -e
perl "$2/people.pl" 60000 > "$1/people.ldif"
for kind in plain indexed; do
  rm -rf "$1/$kind"
  mkdir -p "$1/$kind/data"
  cp "$2/slapd.conf" "$1/$kind/slapd.conf"
  [ $kind = plain ] || echo "index telephoneNumber eq" >> "$1/$kind/slapd.conf"
  (cd "$1/$kind" && slapadd -q -f slapd.conf -l "$1/people.ldif")
done
