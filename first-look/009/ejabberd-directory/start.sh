#!/bin/sh
# start.sh PORT USERS: ejabberd with its HTTP API, its accounts in Mnesia
t=$(mktemp -d /tmp/ejabberd.XXXXXX); mkdir "$t/db" "$t/log"
cat > "$t/first.yml" <<EOF
hosts: [chat.example]
loglevel: warning
listen: []
auth_password_format: plain
EOF
cat > "$t/ejabberd.yml" <<EOF
hosts: [chat.example]
loglevel: warning
listen:
  - port: $1
    ip: "127.0.0.1"
    module: ejabberd_http
    request_handlers: { /api: mod_http_api }
api_permissions:
  "the directory":
    from: [mod_http_api]
    who: [{ ip: 127.0.0.1/8 }]
    what: "*"
auth_password_format: plain
modules: { mod_http_api: {} }
EOF
export SPOOL_DIR="$t/db" EJABBERD_LOG_PATH="$t/log/ejabberd.log" HOME="$t"
ebin=/usr/lib/x86_64-linux-gnu/ejabberd-23.01/ebin
# the accounts first
EJABBERD_CONFIG_PATH="$t/first.yml" erl -noinput -mnesia dir "\"$t/db\"" -pa $ebin -eval "
  {ok, _} = application:ensure_all_started(ejabberd),
  [ok = ejabberd_auth:try_register(<<\"member\", (integer_to_binary(I))/binary>>, <<\"chat.example\">>, <<\"secret\">>) || I <- lists:seq(1, $2)],
  init:stop()."
EJABBERD_CONFIG_PATH="$t/ejabberd.yml" exec erl -noinput -mnesia dir "\"$t/db\"" -pa $ebin -s ejabberd
