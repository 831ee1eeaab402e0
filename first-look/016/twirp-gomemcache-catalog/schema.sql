CREATE TABLE article (sku text PRIMARY KEY, title text NOT NULL, price_cents int NOT NULL, stock int NOT NULL, hall text NOT NULL, shelf text NOT NULL);
INSERT INTO article SELECT 'K' || i, 'article ' || i, 199 + (i * 7919) % 30000, i % 250, chr(65 + i % 6), chr(65 + i % 6) || '-' || (i / 6) % 18
  FROM generate_series(1000, 2999) i;
CREATE INDEX ON article (hall, shelf);
