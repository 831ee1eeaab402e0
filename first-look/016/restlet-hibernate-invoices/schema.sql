CREATE TABLE supplier (id bigint PRIMARY KEY, name text NOT NULL, country text NOT NULL);
CREATE TABLE product (id bigint PRIMARY KEY, name text NOT NULL, unit text NOT NULL, price_cents int NOT NULL, supplier_id bigint NOT NULL REFERENCES supplier);
CREATE TABLE invoice (id bigint PRIMARY KEY, customer text NOT NULL);
CREATE TABLE invoice_line (id bigserial PRIMARY KEY, invoice_id bigint NOT NULL REFERENCES invoice, product_id bigint NOT NULL REFERENCES product, quantity int NOT NULL);
INSERT INTO supplier SELECT i, 'supplier ' || i, (ARRAY['AT','CZ','DE','DK','PL'])[1 + i % 5] FROM generate_series(1, 1500) i;
INSERT INTO product SELECT i, 'article ' || i, (ARRAY['piece','box','pallet'])[1 + i % 3], 99 + (i * 7919) % 20000, 1 + (i * 17) % 1500 FROM generate_series(1, 5000) i;
INSERT INTO invoice SELECT i, CASE WHEN i % 10 = 7 THEN 'wholesale ' ELSE 'shop ' END || i FROM generate_series(1, 400) i;
-- a shop orders 3 to 6 articles, a wholesaler 300 to 330
INSERT INTO invoice_line (invoice_id, product_id, quantity)
  SELECT i, 1 + (i * 131 + k * 37) % 5000, 1 + (i + k) % 9
  FROM generate_series(1, 400) i, generate_series(1, 420) k
  WHERE k <= CASE WHEN i % 10 = 7 THEN 300 + i % 31 ELSE 3 + i % 4 END;
CREATE INDEX ON invoice_line (invoice_id);
