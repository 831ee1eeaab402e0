CREATE DATABASE IF NOT EXISTS shop;
USE shop;
CREATE TABLE IF NOT EXISTS orders (id INT PRIMARY KEY, customer INT, total DECIMAL(10,2), KEY (customer)) ENGINE=InnoDB;
REPLACE INTO orders SELECT seq, seq % 50, seq * 1.5 FROM seq_1_to_5000;
DROP PROCEDURE IF EXISTS settle;
CREATE DEFINER='root'@'localhost' PROCEDURE settle(w DOUBLE) SQL SECURITY INVOKER SELECT SUM(total) AS s, SLEEP(w) AS waited FROM (SELECT SUM(total) AS total FROM orders) t;
