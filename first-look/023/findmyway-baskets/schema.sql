CREATE DATABASE shop;
CREATE USER shop@'127.0.0.1' IDENTIFIED BY 'shop';
GRANT ALL ON shop.* TO shop@'127.0.0.1';
CREATE TABLE shop.`Customer` (id INT PRIMARY KEY, name VARCHAR(191) NOT NULL, credit INT NOT NULL) ENGINE=InnoDB;
CREATE TABLE shop.`Product` (id INT PRIMARY KEY, name VARCHAR(191) NOT NULL, stock INT NOT NULL, price INT NOT NULL) ENGINE=InnoDB;
CREATE TABLE shop.`Order` (id INT AUTO_INCREMENT PRIMARY KEY, customerId INT NOT NULL, status VARCHAR(191) NOT NULL, KEY (customerId)) ENGINE=InnoDB;
CREATE TABLE shop.`OrderLine` (id INT AUTO_INCREMENT PRIMARY KEY, orderId INT NOT NULL, productId INT NOT NULL, quantity INT NOT NULL, KEY (orderId), KEY (productId)) ENGINE=InnoDB;
INSERT INTO shop.`Customer` SELECT seq, CONCAT('customer ', seq), 900000 FROM shop.seq_1_to_2000;
INSERT INTO shop.`Product` SELECT seq, CONCAT('product ', seq), 100000, 100 + seq FROM shop.seq_1_to_1000;
