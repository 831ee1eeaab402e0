CREATE TABLE lots (id integer PRIMARY KEY, title text NOT NULL, category text NOT NULL, estimate integer NOT NULL);
INSERT INTO lots SELECT i, 'Lot ' || i, (ARRAY['clocks','prints','furniture','silver','ceramics','books','toys','instruments'])[1 + i % 8], 40 + i * 7 % 4000
  FROM generate_series(1, 2000) AS i;
CREATE TABLE bids (id bigserial PRIMARY KEY, lot_id integer NOT NULL, bidder text NOT NULL, amount integer NOT NULL, at timestamptz NOT NULL DEFAULT now());
CREATE INDEX bids_lot ON bids (lot_id, amount);
INSERT INTO bids (lot_id, bidder, amount) SELECT 1 + i % 2000, 'paddle ' || i % 350, 40 + i % 900 FROM generate_series(1, 12000) AS i;
CREATE TABLE consignment_items (id bigserial PRIMARY KEY, partner integer NOT NULL, consignment integer NOT NULL, title text NOT NULL);
ANALYZE;
