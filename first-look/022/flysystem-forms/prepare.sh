#!/bin/sh
# prepare.sh CACHE CASE: nothing to build, only a check of what must be there
set -eu
test -e /usr/lib/apache2/modules/libphp8.2.so
test -e /usr/share/php/League/Flysystem/autoload.php
