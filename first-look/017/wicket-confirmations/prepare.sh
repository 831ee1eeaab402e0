#!/bin/sh
# prepare.sh CACHE CASE
set -e
mkdir -p "$1"
if [ ! -x "$1/venv/bin/python" ] || ! "$1/venv/bin/python" -c 'import aiosmtpd' 2>/dev/null; then
  python3 -m venv "$1/venv"
  "$1/venv/bin/pip" -q install aiosmtpd==1.4.6
fi
[ -f "$1/built" ] && [ -z "$(find "$2/src" "$2/pom.xml" -newer "$1/built")" ] && exit 0
cd "$2"
rm -rf "$1/lib"
mvn -q -B -Dbuild.dir="$1/target" clean compile dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$1/lib"
touch "$1/built"
