#!/bin/bash
# start-central.sh LINK_PORT TMP: nginx at the far site
mkdir -p $2/central/logs
mkdir -p $2/central/catalogue
for i in 1 2 3 4 5; do head -c 700 /dev/zero | tr '\0' $i > $2/central/catalogue/$i; done
head -c 6000 /dev/zero | tr '\0' 6 > $2/central/catalogue/6
here=$(realpath $(dirname $0))
exec $here/at-site-b.sh $1 nginx -p $2/central -c $here/central.conf -g "pid $2/central/nginx.pid; user root;"
