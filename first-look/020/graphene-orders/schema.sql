CREATE DATABASE shop;
\c shop
CREATE TABLE product (id int PRIMARY KEY, name text NOT NULL, price numeric(10,2) NOT NULL, stock int NOT NULL);
INSERT INTO product SELECT i, 'Article ' || i, (i % 90) + 9.95, 100000 FROM generate_series(1, 2000) i;
CREATE TABLE customer_order (id bigserial PRIMARY KEY, product_id int NOT NULL REFERENCES product, quantity int NOT NULL,
                             total numeric(10,2) NOT NULL, placed_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE supplier_price (supplier int, article int, price numeric(10,2) NOT NULL, seen_at timestamptz NOT NULL DEFAULT now(),
                             PRIMARY KEY (supplier, article)) WITH (fillfactor = 50);
INSERT INTO supplier_price SELECT s, a, a + s, now() FROM generate_series(1, 3) s, generate_series(1, 1000) a;
VACUUM ANALYZE;
CHECKPOINT;
