CREATE DATABASE IF NOT EXISTS shop;
USE shop;
CREATE TABLE articles (id INT PRIMARY KEY, title VARCHAR(80), cents INT) ENGINE=InnoDB;
CREATE TABLE order_lines (id INT AUTO_INCREMENT PRIMARY KEY, order_id INT, article_id INT, pieces INT, KEY (order_id)) ENGINE=InnoDB;
INSERT INTO articles SELECT seq, CONCAT('Article number ', seq), 100 + seq * 7 % 5000 FROM seq_1_to_4000;
INSERT INTO order_lines (order_id, article_id, pieces) SELECT o.seq, 1 + (o.seq * 37 + l.seq * 53) % 4000, 1 + l.seq % 4 FROM seq_1_to_499 o, seq_1_to_70 l WHERE l.seq <= IF(o.seq < 400, 2, 70);
