#!/bin/sh
# db.sh PORT TMP
B=/usr/lib/postgresql/15/bin
chmod 755 "$2"; mkdir -p "$2/pg"; chown postgres "$2/pg"
su postgres -s /bin/sh -c "$B/initdb -D $2/pg/data -A trust -U postgres --no-sync >/dev/null &&
  echo \"create table sale as select i as id, i % 97 as shop, (i % 1000) * 7919 % 1000 as cents from generate_series(1, 300000) i;
analyze sale;\" | $B/postgres --single -D $2/pg/data postgres >/dev/null"
exec su postgres -s /bin/sh -c "exec $B/postgres -D $2/pg/data -p $1 -k $2/pg -c listen_addresses=127.0.0.1 -c fsync=off -c max_parallel_workers_per_gather=0"
