CREATE ROLE league LOGIN;
CREATE DATABASE league OWNER league;
\connect league
SET ROLE league;
CREATE TYPE phase AS ENUM ('planned', 'running', 'played', 'abandoned');
CREATE TYPE official AS (name text, licence int, since date);
CREATE TABLE teams (id int PRIMARY KEY, name text NOT NULL, points int NOT NULL);
CREATE TABLE fixtures (
    id serial PRIMARY KEY, home int NOT NULL REFERENCES teams, away int NOT NULL REFERENCES teams,
    kickoff timestamptz NOT NULL, phase phase NOT NULL, officials official[] NOT NULL);
INSERT INTO teams SELECT n, 'Team ' || n, (n * 37) % 90 FROM generate_series(1, 60) AS n;
INSERT INTO fixtures (home, away, kickoff, phase, officials)
SELECT h.id, a.id, timestamptz '2026-08-01 15:00+00' + ((h.id * 61 + a.id * 7) % 300) * interval '1 day',
    (enum_range(NULL::phase))[1 + (h.id + a.id) % 4],
    ARRAY[ROW('Referee ' || h.id, 1000 + a.id, date '2015-07-01')::official,
          ROW('Linesman ' || a.id, 2000 + h.id, date '2018-07-01')::official]
FROM teams AS h JOIN teams AS a ON h.id <> a.id;
CREATE INDEX ON fixtures (home, kickoff);
