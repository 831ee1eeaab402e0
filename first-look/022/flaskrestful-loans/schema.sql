SET SESSION sql_log_bin = 0;
CREATE DATABASE library DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE USER 'library'@'127.0.0.1' IDENTIFIED BY 'library';
GRANT ALL ON library.* TO 'library'@'127.0.0.1';
CREATE TABLE library.copies (id INT PRIMARY KEY, title VARCHAR(80) NOT NULL, shelf VARCHAR(8) NOT NULL, due DATE NULL, loans INT NOT NULL DEFAULT 0) ENGINE=InnoDB;
CREATE TABLE library.loans (id BIGINT AUTO_INCREMENT PRIMARY KEY, copy_id INT NOT NULL, reader INT NOT NULL, at DATETIME NOT NULL, KEY (copy_id)) ENGINE=InnoDB;
INSERT INTO library.copies (id, title, shelf) SELECT seq, CONCAT('Title no. ', seq), CONCAT('S', seq MOD 40) FROM library.seq_1_to_2000;
