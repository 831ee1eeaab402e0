CREATE TABLE garages (id int PRIMARY KEY, name text NOT NULL, street text NOT NULL, levels int NOT NULL, places int NOT NULL, height_cm int NOT NULL);
INSERT INTO garages SELECT g, 'Garage ' || g, 'Ring ' || (g * 7) % 200, 1 + g % 5, 80 + (g * 13) % 400, 190 + g % 30 FROM generate_series(1, 80) g;

CREATE TABLE movements (id bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), garage_id int NOT NULL REFERENCES garages, level int NOT NULL, ticket int NOT NULL, entered boolean NOT NULL);
INSERT INTO movements (at, garage_id, level, ticket, entered)
  SELECT now() - (n % 600000) * interval '1 second', 1 + (n * 7919) % 80, 1 + n % 5, n / 2, n % 2 = 0 FROM generate_series(1, ROWS) n;

CREATE MATERIALIZED VIEW occupancy AS
  SELECT g.id AS garage_id, m.level, count(*) FILTER (WHERE m.entered) - count(*) FILTER (WHERE NOT m.entered) AS cars,
         count(DISTINCT m.ticket % 997) AS tickets, max(m.at) AS last_movement
  FROM garages g JOIN movements m ON m.garage_id = g.id
  GROUP BY g.id, m.level;
CREATE UNIQUE INDEX occupancy_key ON occupancy (garage_id, level);
VACUUM ANALYZE;
