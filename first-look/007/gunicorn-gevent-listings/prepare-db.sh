#!/bin/sh
# prepare-db.sh CACHE: a MariaDB data folder with the listings, made once
set -e
d="$1/data"; rm -rf "$d"; mkdir -p "$d"
mysql_install_db --no-defaults --user=root --datadir="$d" --auth-root-authentication-method=normal --skip-test-db >"$1/install.log" 2>&1
mariadbd --no-defaults --user=root --datadir="$d" --innodb-log-file-size=8M --skip-networking --socket="$1/s.sock" --pid-file="$1/s.pid" >>"$1/install.log" 2>&1 &
for i in $(seq 100); do mysqladmin --no-defaults -uroot -S "$1/s.sock" ping >/dev/null 2>&1 && break; sleep 0.2; done
mysql --no-defaults -uroot -S "$1/s.sock" <<'SQL'
create database estate;
use estate;
create table listing (id int primary key, town varchar(40), price int, description text);
insert into listing select seq, concat('town', seq % 200), 50000 + (seq * 7919) % 900000,
  concat('Bright flat number ', seq, ' with ', seq % 6 + 1, ' rooms, ', repeat('near the park and the tram, ', 3), if(seq % 5003 = 0, 'sauna', 'balcony'))
  from seq_1_to_200000;
create user 'web'@'127.0.0.1' identified by 'web';
grant all on estate.* to 'web'@'127.0.0.1';
SQL
mysqladmin --no-defaults -uroot -S "$1/s.sock" shutdown
wait
