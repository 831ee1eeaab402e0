#!/bin/sh
# $1 port, $2 port of the name server, $3 link list to ask, $4 scratch folder
printf "com\norg\nnet\nexample\n" > "$4/tlds"
cat > "$4/rspamd.conf" <<END
options {
  pidfile = "$4/rspamd.pid"; tempdir = "$4"; filters = "regexp";
  control_socket = "$4/rspamd.sock mode=0600"; cache_file = "$4/symbols.cache"; history_rows = 50;
  url_tld = "$4/tlds"; disable_hyperscan = true;
  dns { nameserver = ["127.0.0.1:$2"]; timeout = 1s; sockets = 16; retransmits = 3; }
}
logging { type = "file"; filename = "$4/rspamd.log"; level = "${LEVEL:-warning}"; }
worker "normal" { bind_socket = "127.0.0.1:$1"; count = 1; task_timeout = 8s; }
modules { path = "/usr/share/rspamd/plugins/rbl.lua"; }
lua = "/usr/share/rspamd/rules/rspamd.lua"
actions { reject = 15; add_header = 6; }
rbl {
  default_unknown = false; default_exclude_users = false; default_exclude_private_ips = false;
  rbls {
    links { symbol = "LINK_LISTED"; rbl = "$3"; checks = ["urls"]; ignore_defaults = true; }
  }
}
group "rbl" { symbols { "LINK_LISTED" { weight = 7; } } }
END
exec rspamd -f -i -c "$4/rspamd.conf" --var=DBDIR="$4" --var=RUNDIR="$4" --var=LOGDIR="$4"
