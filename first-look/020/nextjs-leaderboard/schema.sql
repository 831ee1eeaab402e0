CREATE TABLE players (id int PRIMARY KEY, name text NOT NULL, region text NOT NULL, joined timestamp NOT NULL);
INSERT INTO players SELECT i, 'player-' || i, (ARRAY['eu','us','jp','br','in','za'])[1 + i % 6],
  timestamp '2024-01-01' + (i % 500) * interval '1 day' FROM generate_series(1, 4000) i;
CREATE TABLE scores (id serial PRIMARY KEY, player_id int NOT NULL, level int NOT NULL, points int NOT NULL,
  played timestamp NOT NULL DEFAULT now());
INSERT INTO scores (player_id, level, points, played)
  SELECT 1 + (i * 7919) % 4000, 1 + i % 60, 100 + (i::bigint * 104729 % 900)::int,
    timestamp '2025-01-01' + i * interval '1 minute' FROM generate_series(1, 200000) i;
CREATE INDEX scores_player ON scores (player_id, id);
CREATE MATERIALIZED VIEW rankings AS
  SELECT p.region, p.id AS player_id, p.name, s.best, s.games,
    rank() OVER (PARTITION BY p.region ORDER BY s.best DESC, p.id) AS place
  FROM players p JOIN (
    SELECT player_id, sum(points)::bigint AS best, count(*) AS games FROM scores GROUP BY player_id
  ) s ON s.player_id = p.id;
CREATE UNIQUE INDEX rankings_player ON rankings (player_id);
CREATE INDEX rankings_place ON rankings (region, place);
VACUUM ANALYZE;
