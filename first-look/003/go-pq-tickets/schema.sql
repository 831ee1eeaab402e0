CREATE TABLE events (id int PRIMARY KEY, title text, seats_left int);
INSERT INTO events SELECT i, 'concert ' || i, 1000000 FROM generate_series(1, 200) i;
CREATE TABLE prices (event int, category text, cents int);
INSERT INTO prices SELECT i, c, 1000 + i FROM generate_series(1, 200) i, unnest(array['a','b','c']) c;
CREATE INDEX ON prices (event);
CREATE TABLE visits (id serial PRIMARY KEY, visitor int, page text);
INSERT INTO visits (visitor, page) SELECT i % 150000, 'page ' || i FROM generate_series(1, 300000) i;
CREATE INDEX ON visits (visitor);
ANALYZE;
