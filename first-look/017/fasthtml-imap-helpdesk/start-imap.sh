#!/bin/sh
# start-imap.sh PORT: Dovecot in a scratch directory, behind HAProxy (TCP mode)
set -e
port=$1
dir=/tmp/helpdesk-imap.$port
rm -rf "$dir"
mkdir -p "$dir/run" "$dir/state" "$dir/mail"
chmod 755 "$dir" "$dir/run"
chown nobody:nogroup "$dir/mail"
cat > "$dir/dovecot.conf" <<C
instance_name = helpdesk-$port
base_dir = $dir/run
state_dir = $dir/state
log_path = $dir/dovecot.log
listen = 127.0.0.1
protocols = imap
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain
mail_location = maildir:$dir/mail/%u
mail_fsync = never
first_valid_uid = 1
default_vsz_limit = 512M
passdb {
  driver = static
  args = password=quality
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=$dir/mail/%u
}
namespace inbox {
  inbox = yes
  separator = /
}
service imap-login {
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = 0
  }
  unix_listener front {
    mode = 0666
  }
}
C
cat > "$dir/haproxy.cfg" <<C
global
  nbthread 1
  maxconn 200
defaults
  mode tcp
  timeout connect 5s
  timeout client 30m
  timeout server 30m
listen imap
  bind 127.0.0.1:$port
  server dovecot unix@$dir/run/front
C
setpriv --pdeathsig TERM /usr/sbin/dovecot -F -c "$dir/dovecot.conf" &
n=0
while [ ! -S "$dir/run/front" ] && [ $n -lt 100 ]; do
  n=$((n + 1))
  sleep 0.1
done
exec haproxy -db -f "$dir/haproxy.cfg"
