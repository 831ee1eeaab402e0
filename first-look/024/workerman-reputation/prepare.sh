#!/bin/sh
# prepare.sh CACHE CASE: the database (Workerman 4.2.1 is in the case's folder, as composer would install it)
set -eu
php "$2/data.php" "$1/console.db"
