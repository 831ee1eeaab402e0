CREATE TABLE accounts (id int PRIMARY KEY, holder text NOT NULL, cents bigint NOT NULL);

INSERT INTO accounts SELECT i, 'member ' || i, 10000 + i * 37 FROM generate_series(1, 2000) i;

CREATE TABLE entries (id bigserial PRIMARY KEY, debit int NOT NULL, credit int NOT NULL, cents bigint NOT NULL, reference bigint NOT NULL, booked timestamptz NOT NULL DEFAULT now());

CREATE TABLE settlements (lot bigint PRIMARY KEY, state text NOT NULL, rate float8);

VACUUM ANALYZE;

