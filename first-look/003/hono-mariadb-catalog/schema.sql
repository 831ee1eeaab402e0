CREATE DATABASE shop;
USE shop;
CREATE TABLE shop.products (id INT PRIMARY KEY, name VARCHAR(40), cents INT) ENGINE=InnoDB;
INSERT INTO shop.products SELECT seq, CONCAT('product ', seq), 100 + seq FROM seq_1_to_5000;
CREATE TABLE shop.stores (id INT PRIMARY KEY, city VARCHAR(40)) ENGINE=InnoDB;
INSERT INTO shop.stores SELECT seq, CONCAT('city ', seq) FROM seq_1_to_30;
DROP USER IF EXISTS ''@'localhost';
CREATE USER 'shop'@'%' IDENTIFIED BY 'shop';
GRANT ALL ON shop.* TO 'shop'@'%';
