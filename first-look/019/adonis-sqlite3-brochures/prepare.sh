#!/bin/sh
# npm packages; node-sqlite3 is compiled here (its prebuilt binary is not on the npm registry)
set -e
cache="$1"; case="$2"
mkdir -p "$cache/app" "$cache/files" "$cache/shared"
cp -r "$case/app/." "$cache/app/"
cd "$cache/app"
if [ ! -e node_modules/.done ]; then
  npm install --no-audit --no-fund --ignore-scripts
  nodedir=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
  cd node_modules/sqlite3
  node ../node-gyp/bin/node-gyp.js rebuild --nodedir="$nodedir"
  cd ../..
  touch node_modules/.done
fi
python3 - "$cache/files" <<'PY'
import random, sys, os
for i in range(48):
    rnd = random.Random(i)
    with open(os.path.join(sys.argv[1], f"tour-{i}.pdf"), "wb") as f:
        f.write(b"%PDF-1.4\n" + rnd.randbytes(36000 + 500 * i) + b"\n%%EOF\n")
PY
