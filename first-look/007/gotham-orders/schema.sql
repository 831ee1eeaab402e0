CREATE TABLE orders (id int PRIMARY KEY, customer_id int NOT NULL, placed date NOT NULL);
CREATE TABLE lines (id serial PRIMARY KEY, order_id int NOT NULL, sku text NOT NULL, quantity int NOT NULL, cents int NOT NULL);
-- customers 1..200 have 5 orders each, customers 201..220 (shops that resell) have 800 each
INSERT INTO orders SELECT n, 1 + n % 200, date '2026-01-01' + n % 300 FROM generate_series(1, 1000) n;
INSERT INTO orders SELECT 1000 + n, 201 + n % 20, date '2026-01-01' + n % 300 FROM generate_series(1, 16000) n;
INSERT INTO lines (order_id, sku, quantity, cents)
  SELECT o.id, 'SKU-' || (o.id * 7 + k) % 900, 1 + k, 100 * k + 99 FROM orders o, generate_series(1, 2) k;
CREATE INDEX ON orders (customer_id);
CREATE INDEX ON lines (order_id);
ANALYZE;
