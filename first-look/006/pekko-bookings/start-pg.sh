#!/bin/bash
# start-pg.sh PORT TMP: a PostgreSQL with the ledger of the hotel, data under TMP
set -e
BIN=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
chmod a+x "$2"; D=$2/pg; mkdir -p "$D"; chown postgres "$D"
AS="setpriv --reuid postgres --regid postgres --clear-groups"
cd "$D"
$AS "$BIN/initdb" -D "$D/data" -U postgres -A trust --no-sync >/dev/null
$AS "$BIN/postgres" --single -j -D "$D/data" postgres >/dev/null <<'SQL'
create table ledger (account int, day date, amount numeric);

insert into ledger select i % 500, date '2025-01-01' + i % 365, (i * 7919) % 400 from generate_series(1, 20000) i;

create index on ledger (account);

create function statement(a int) returns table (day date, amount numeric) language sql as $$ select l.day, sum(l.amount) from ledger l, pg_sleep(0.18) where l.account = a group by l.day order by l.day $$;
SQL
exec $AS "$BIN/postgres" -D "$D/data" -p "$1" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$D" -c fsync=off -c max_connections=80
