#!/bin/sh
# $1 port, $2 scratch folder, $3 the prepared folder
cp -r "$3" "$2/ldap" || exit 1
cd "$2/ldap" && exec slapd -f slapd.conf -h "ldap://127.0.0.1:$1/" -d "${LDAP_DEBUG:-0}"
