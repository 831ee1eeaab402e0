#!/bin/sh
# processor of svlogd: compresses the finished log file (stdin) and sends it to the archive before it is kept (stdout)
f=$(mktemp ./ship.XXXXXX)
gzip -c1 > "$f"
curl -sf -H 'Expect:' -T "$f" "$1/billing/$(date +%s%N).gz" >/dev/null
cat "$f"
rm -f "$f"
