#!/bin/sh
# usage: desk.sh CACHE
SFTP_USER="$(id -un)"; export SFTP_USER
exec "$1/desk"
