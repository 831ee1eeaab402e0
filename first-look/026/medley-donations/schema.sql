CREATE TABLE campaigns (id int PRIMARY KEY, title text NOT NULL, goal int NOT NULL);

CREATE TABLE donations (campaign int NOT NULL, donor int NOT NULL, day date NOT NULL, cents int NOT NULL, note text) PARTITION BY RANGE (day);

DO $$ BEGIN
  FOR n IN 0..239 LOOP
    EXECUTE format('CREATE TABLE donations_%s PARTITION OF donations FOR VALUES FROM (%L) TO (%L)', n, date '2024-01-01' + n * 3, date '2024-01-01' + n * 3 + 3);
  END LOOP;
END $$;

CREATE INDEX ON donations (campaign);

CREATE INDEX ON donations (donor);

INSERT INTO campaigns SELECT n, 'Campaign no. ' || n, 1000 * (1 + n % 50) FROM generate_series(1, 300) n;

INSERT INTO donations SELECT 1 + (n * 7919::bigint) % 300, 1 + (n * 104729::bigint) % 9000, date '2024-01-01' + (n % 720), 500 + (n * 37) % 9000, 'gift ' || n FROM generate_series(1, 60000) n;

ANALYZE;

