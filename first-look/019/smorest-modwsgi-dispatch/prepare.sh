#!/bin/sh
# Debian: apache2 libapache2-mod-wsgi-py3 rsyslog redis-server xz-utils
set -e
cache=$1
test -f /usr/lib/apache2/modules/mod_wsgi.so
test -x /usr/sbin/rsyslogd
# mod_wsgi runs Debian's Python 3.11; pip may be of any Python 3.11
if [ ! -f "$cache/site/done" ]; then
    rm -rf "$cache/site"
    python3 -m pip install -q --target "$cache/site" \
        'flask==3.0.3' 'werkzeug==3.0.4' 'flask-smorest==0.44.0' 'marshmallow==3.22.0' 'redis==5.0.8' 'async-timeout==4.0.3'
    touch "$cache/site/done"
fi
