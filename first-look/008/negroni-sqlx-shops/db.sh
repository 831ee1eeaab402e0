#!/bin/bash
# start MariaDB on port $1 with its data in $2
set -e
D=$2/data; rm -rf "$D"
mysql_install_db --no-defaults --user=root --datadir="$D" --auth-root-authentication-method=normal --skip-test-db >/dev/null 2>&1
cat > "$2/init.sql" <<Q
CREATE DATABASE shop;
USE shop;
CREATE TABLE shops (id INT PRIMARY KEY, name VARCHAR(40));
CREATE TABLE sales (id INT PRIMARY KEY AUTO_INCREMENT, shop INT, product VARCHAR(20), pieces INT, price DOUBLE, KEY (shop));
INSERT INTO shops SELECT seq, CONCAT('shop ', seq) FROM seq_1_to_40;
INSERT INTO sales (shop, product, pieces, price) SELECT 1 + seq % 40, CONCAT('product ', seq % 331), 1 + seq % 9, 1 + seq % 700 / 10 FROM seq_1_to_40000;
ANALYZE TABLE sales;
CREATE USER 'app'@'127.0.0.1' IDENTIFIED BY 'app';
GRANT ALL ON shop.* TO 'app'@'127.0.0.1';
Q
exec mysqld --no-defaults --user=root --datadir="$D" --port="$1" --bind-address=127.0.0.1 --socket="$2/my.sock" --pid-file="$2/my.pid" --init-file="$2/init.sql" --skip-name-resolve --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=2
