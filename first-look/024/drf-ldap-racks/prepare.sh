#!/bin/sh
# prepare.sh CACHE CASE: virtual environment, the directory (slapd, mdb) and the database with users and tokens
set -eu
cache=$1
case=$2
PATH=$PATH:/usr/sbin:/usr/local/sbin
if [ ! -e "$cache/venv/.complete" ]; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv"
    nice -n 10 "$cache/venv/bin/pip" install -q --disable-pip-version-check \
        "Django==5.1.7" "djangorestframework==3.15.2" "django-auth-ldap==5.1.0" "python-ldap==3.4.4" "gunicorn==23.0.0"
    touch "$cache/venv/.complete"
fi
if [ ! -e "$cache/dir.complete" ]; then
    rm -rf "$cache/dir"
    mkdir -p "$cache/dir/data"
    python3 "$case/people.py" > "$cache/dir/people.ldif"
    sed "s#@DIR@#$cache/dir#g" "$case/slapd.conf" > "$cache/dir/slapd.conf"
    slapadd -q -f "$cache/dir/slapd.conf" -l "$cache/dir/people.ldif"
    touch "$cache/dir.complete"
fi
if [ ! -e "$cache/db.complete" ]; then
    rm -f "$cache/racks.db"
    cd "$case/site"
    RACKS_DB="$cache/racks.db" LDAP_PORT=1 PYTHONDONTWRITEBYTECODE=1 "$cache/venv/bin/python" seed.py
    touch "$cache/db.complete"
fi
