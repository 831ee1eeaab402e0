#!/bin/sh
# smarty4, APCu, FPM and nginx come as Debian packages
set -e
cache=$1
command -v php-fpm8.2 >/dev/null && [ -e /usr/share/php/smarty4/Smarty.class.php ] && [ -e /etc/php/8.2/mods-available/apcu.ini ] || {
  apt-get install -y --no-install-recommends nginx php8.2-fpm php8.2-cli php8.2-curl php8.2-apcu smarty4
}
mkdir -p "$cache/shared"
