#!/bin/sh
# $1 cache folder, $2 folder of the case: writes the handbook's ZIM file with its full-text index
set -e
rm -rf "$1/html" "$1/handbook.zim"
python3 "$2/pages.py" "$1/html" 400 2500
zimwriterfs --welcome=index.html --illustration=icon.png --language=eng --title=Handbook --description=Handbook --creator=workshop \
  --publisher=workshop --clusterSize=64 --threads=2 "$1/html" "$1/handbook.zim" >/dev/null
rm -rf "$1/html"
