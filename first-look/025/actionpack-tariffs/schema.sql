CREATE TABLE zone (id serial PRIMARY KEY, code text NOT NULL UNIQUE, name text NOT NULL, factor numeric(6, 3) NOT NULL);
CREATE TABLE discount (id serial PRIMARY KEY, zone_code text NOT NULL, part numeric(4, 3) NOT NULL);
INSERT INTO zone (code, name, factor) SELECT 'Z' || i, 'Zone no. ' || i, 1 + (i % 70) / 100.0 FROM generate_series(1, 120) i;
INSERT INTO discount (zone_code, part) SELECT 'Z' || i, (i % 20) / 100.0 FROM generate_series(1, 120, 3) i;
