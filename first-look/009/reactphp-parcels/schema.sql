CREATE DATABASE parcels;
USE parcels;
CREATE TABLE scans (id INT PRIMARY KEY AUTO_INCREMENT, parcel INT NOT NULL, depot INT NOT NULL, weight INT NOT NULL, note VARCHAR(60) NOT NULL) ENGINE=InnoDB;
INSERT INTO scans (parcel, depot, weight, note) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT (a.i * 1000 + b.i) % 9000, (a.i + b.i) % 40, (a.i * 7919 + b.i) % 3000, MD5(a.i * 1000 + b.i) FROM n a, n b WHERE a.i <= 300;
