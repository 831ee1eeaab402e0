CREATE DATABASE IF NOT EXISTS rental;
USE rental;
CREATE TABLE tool (id INT PRIMARY KEY, name VARCHAR(80), shelf INT, cents INT, free INT, KEY (shelf)) ENGINE=InnoDB;
INSERT INTO tool SELECT seq, CONCAT('tool ', seq), seq % 100, 500 + seq % 90 * 25, 4 FROM seq_1_to_2000;
CREATE TABLE rental (id INT PRIMARY KEY AUTO_INCREMENT, tool INT, hold VARCHAR(40), KEY (tool)) ENGINE=InnoDB;
