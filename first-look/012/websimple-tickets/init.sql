CREATE DATABASE IF NOT EXISTS tickets;
USE tickets;
CREATE TABLE event (id INT PRIMARY KEY, name VARCHAR(80), free INT) ENGINE=InnoDB;
INSERT INTO event SELECT seq, CONCAT('concert ', seq), 1000000 FROM seq_1_to_400;
CREATE TABLE booking (id INT PRIMARY KEY AUTO_INCREMENT, event INT, seats INT, receipt VARCHAR(40), KEY (event)) ENGINE=InnoDB;
INSERT INTO booking (event, seats, receipt) SELECT seq % 400 + 1, 2, CONCAT('r', seq) FROM seq_1_to_20000;
