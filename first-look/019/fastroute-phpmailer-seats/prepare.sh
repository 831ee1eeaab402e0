#!/bin/sh
# Debian: apache2 libapache2-mod-php8.2 php8.2-opcache php-redis php-nikic-fast-route libphp-phpmailer redis-server
set -e
cache=$1
[ -x "$cache/venv/bin/python" ] || python3 -m venv "$cache/venv"
"$cache/venv/bin/python" -c 'import aiosmtpd' 2>/dev/null || "$cache/venv/bin/pip" install -q 'aiosmtpd==1.4.6'
test -f /usr/share/php/libphp-phpmailer/autoload.php
test -f /usr/share/php/FastRoute/autoload.php
test -f /usr/lib/apache2/modules/libphp8.2.so
