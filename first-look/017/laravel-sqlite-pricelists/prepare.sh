#!/bin/sh
# prepare.sh: nothing to build; says early what is missing
set -e
php -r 'require "Illuminate/autoload.php"; exit(extension_loaded("pdo_sqlite") ? 0 : 1);'
test -e /usr/lib/apache2/modules/libphp8.2.so
