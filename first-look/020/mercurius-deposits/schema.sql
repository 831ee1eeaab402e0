CREATE TABLE sites (
  id integer PRIMARY KEY,
  name text NOT NULL,
  capacity integer NOT NULL,
  reserved integer NOT NULL DEFAULT 0,
  deposits bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20);
CREATE TABLE reservations (
  id bigserial PRIMARY KEY,
  site_id integer NOT NULL REFERENCES sites,
  guest text NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE deposits (
  id bigserial PRIMARY KEY,
  site_id integer NOT NULL REFERENCES sites,
  guest text NOT NULL,
  cents integer NOT NULL,
  charge text NOT NULL
);
INSERT INTO sites (id, name, capacity)
  SELECT n, 'Campsite ' || n, 900000 + n FROM generate_series(1, 120) n;
ANALYZE;
