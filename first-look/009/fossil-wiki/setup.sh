#!/bin/sh
# setup.sh DIR: a repository with wiki pages and some history
set -e
d=$1; export HOME=$d USER=wiki
rm -rf "$d/w" "$d/handbook.fossil"; mkdir -p "$d/w"
fossil init --admin-user wiki "$d/handbook.fossil" >/dev/null
cd "$d/w"; fossil open "$d/handbook.fossil" >/dev/null
i=1
while [ $i -le 60 ]; do
  { echo "# Chapter $i"; j=1; while [ $j -le 120 ]; do echo "* **Step $j** of chapter $i: see [step $((j * i % 97))](/wiki?name=Page$((j % 60 + 1))) and \`tool --level $((j * 7 % 13))\`"; j=$((j + 1)); done; } > page.md
  fossil wiki create "Page$i" page.md --mimetype text/x-markdown -R "$d/handbook.fossil" >/dev/null
  i=$((i + 1))
done
fossil close --force >/dev/null
