CREATE TABLE regions (
    id integer PRIMARY KEY,
    name text NOT NULL,
    country text NOT NULL
);
CREATE TABLE wines (
    id integer PRIMARY KEY,
    region_id integer NOT NULL REFERENCES regions,
    name text NOT NULL,
    vintage integer NOT NULL,
    price numeric(8, 2) NOT NULL,
    bottles integer NOT NULL
);
INSERT INTO regions SELECT n, 'Region ' || n, (ARRAY['FR', 'IT', 'ES', 'DE', 'PT'])[1 + n % 5] FROM generate_series(1, 60) n;
INSERT INTO wines SELECT n, 1 + n % 60, 'Cuvee ' || n, 1990 + n % 32, 5 + n % 90, n % 48 FROM generate_series(1, 4000) n;
ANALYZE;
