CREATE DATABASE crops DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE USER 'crops'@'127.0.0.1' IDENTIFIED BY 'crops';
GRANT ALL ON crops.* TO 'crops'@'127.0.0.1';
CREATE TABLE crops.sensors (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, zone INT NOT NULL) ENGINE=InnoDB;
CREATE TABLE crops.readings (sensor_id INT NOT NULL, at INT NOT NULL, temperature DOUBLE NOT NULL, humidity DOUBLE NOT NULL, PRIMARY KEY (sensor_id, at)) ENGINE=InnoDB;
INSERT INTO crops.sensors SELECT seq, CONCAT('Aranet no. ', seq), seq MOD 12 FROM crops.seq_1_to_120;
INSERT INTO crops.readings SELECT s.seq, r.seq * 600, 18 + (r.seq * s.seq) MOD 9, 55 + (r.seq + s.seq) MOD 31 FROM crops.seq_1_to_120 s JOIN crops.seq_1_to_200 r;
