#!/bin/sh
# $1 = cache, $2 = case
set -e
mkdir -p "$1/site/bin" "$1/static"
cp "$2/site/web.config" "$1/site/"
mcs -optimize+ -target:library -r:System.Web -out:"$1/site/bin/Freight.dll" "$2/Freight.cs"
cat > "$1/static/terms.html" <<'H'
<!doctype html><title>Terms of carriage</title>
<h1>Terms of carriage</h1><p>Rates exclude demurrage, customs duties and port congestion surcharges unless stated.</p>
H
