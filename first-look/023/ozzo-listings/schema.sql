CREATE TABLE districts (name text PRIMARY KEY);

CREATE TABLE listings (id integer PRIMARY KEY, district text NOT NULL, street text NOT NULL, rooms integer NOT NULL,
    area double precision NOT NULL, price bigint NOT NULL, viewed integer NOT NULL DEFAULT 0);

INSERT INTO districts SELECT 'district-' || n FROM generate_series(1, 40) n;

INSERT INTO listings SELECT n, 'district-' || (n % 40 + 1), 'Street ' || (n * 7 % 900) || ' no. ' || (n % 120 + 1), n % 6 + 1,
    30 + (n * 37 % 1700) / 10.0, 90000 + (n::bigint * 7919 % 1700000), 0 FROM generate_series(1, 120000) n;

CREATE INDEX ON listings (district, price);

VACUUM ANALYZE listings;

