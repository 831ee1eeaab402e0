CREATE TABLE room (id int PRIMARY KEY, hotel int, kind text, beds int);

INSERT INTO room SELECT i, i % 20, 'double', 2 FROM generate_series(1, 400) i;

CREATE TABLE stay (id int PRIMARY KEY, hotel int, day date);

INSERT INTO stay SELECT i, i % 20, date '2026-01-01' + i % 365 FROM generate_series(1, 20000) i;

CREATE INDEX ON stay (hotel, day);

CREATE TABLE portal (latency_s float);

INSERT INTO portal VALUES (0.12);

CREATE FUNCTION portal_availability(room int) RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM (SELECT pg_sleep(latency_s) FROM portal) p, stay WHERE stay.hotel = room % 20';

ANALYZE;
