CREATE TABLE player (id int PRIMARY KEY, name text NOT NULL, rating int NOT NULL);
CREATE TABLE game (id int PRIMARY KEY, player_id int NOT NULL REFERENCES player (id), board text NOT NULL, turn int NOT NULL);
CREATE TABLE move (id serial PRIMARY KEY, game_id int NOT NULL REFERENCES game (id), turn int NOT NULL, square int NOT NULL, at timestamp(3) NOT NULL DEFAULT now());
CREATE INDEX move_game_turn ON move (game_id, turn);
INSERT INTO player SELECT i, 'player ' || i, 1000 + i % 900 FROM generate_series(1, 3000) i;
INSERT INTO game SELECT i, i, repeat('.', 64), 0 FROM generate_series(1, 3000) i;
INSERT INTO move (game_id, turn, square) SELECT 1 + i % 3000, i / 3000, (i * 7) % 64 FROM generate_series(0, 29999) i;
