#!/bin/bash
# CodeIgniter 4 (npm carries its release) with this application laid over it, and the catalogue
set -e
cache=$1; here=$2
mkdir -p "$cache"
if [ ! -e "$cache/framework/system/CodeIgniter.php" ]; then
    cd "$cache"
    rm -rf pack && mkdir pack && cd pack
    npm pack --silent codeigniter4@4.1.3 >/dev/null
    tar xzf codeigniter4-*.tgz
    rm -rf ../framework && mv package ../framework
    cd .. && rm -rf pack
fi
rm -f "$cache/courses.db"
php "$here/catalogue.php" "$cache/courses.db"
