#!/bin/sh
# pg.sh initdb DATA SCHEMA       makes a cluster and loads it
# pg.sh serve TEMPLATE TMP PORT  serves a copy of it, as another user than root
set -eu
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
as() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups \
            --inh-caps=+dac_override,+dac_read_search --ambient-caps=+dac_override,+dac_read_search "$@"
    else
        "$@"
    fi
}
own() {
    if [ "$(id -u)" = 0 ]; then chown -R 65534:65534 "$1"; fi
}
case $1 in
initdb)
    work=$(mktemp -d "$(dirname "$2")/initXXXXXX")
    own "$work"
    as "$bin/initdb" -D "$work/data" -U postgres -A trust --no-sync -E UTF8 --locale=C >/dev/null
    as "$bin/pg_ctl" -D "$work/data" -w -o "-c listen_addresses='' -c unix_socket_directories=@slowpath-init-$$ -c fsync=off" -l "$work/log" start >/dev/null
    as "$bin/psql" -h "@slowpath-init-$$" -U postgres -q -v ON_ERROR_STOP=1 <"$3"
    as "$bin/psql" -h "@slowpath-init-$$" -U postgres -q -c 'VACUUM ANALYZE' -d "$(sed -n 's/^\\connect //p' "$3")"
    as "$bin/pg_ctl" -D "$work/data" -w -m fast stop >/dev/null
    mv "$work/data" "$2"
    rm -rf "$work"
    ;;
serve)
    cp -a "$2" "$3/data"
    own "$3/data"
    template=$3/data
    port=$4
    shift 4
    if [ "$(id -u)" = 0 ]; then
        exec setpriv --reuid=65534 --regid=65534 --clear-groups \
            --inh-caps=+dac_override,+dac_read_search --ambient-caps=+dac_override,+dac_read_search "$bin/postgres" -D "$template" -p "$port" \
            -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c shared_buffers=256MB -c fsync=off "$@"
    fi
    exec "$bin/postgres" -D "$template" -p "$port" \
        -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c shared_buffers=256MB -c fsync=off "$@"
    ;;
esac
