CREATE ROLE council LOGIN;
CREATE DATABASE council OWNER council;
\connect council
SET ROLE council;
CREATE TABLE speeches (id serial PRIMARY KEY, meeting int NOT NULL, doc text NOT NULL);
INSERT INTO speeches (meeting, doc)
SELECT 1 + n % 25, json_build_object(
    'meeting', 1 + n % 25, 'speaker', 'Councillor ' || chr(65 + n % 23) || '. ' || chr(65 + n % 7) || 'erg',
    'party', 'Party ' || n % 6, 'item', 'Item ' || n % 12,
    'began', timestamp '2024-01-10 18:00' + n * interval '40 seconds',
    'ended', timestamp '2024-01-10 18:00' + n * interval '40 seconds' + (20 + n % 90) * interval '1 second',
    'text', repeat('The honourable member spoke of item ' || n || ' and of the estimates. ', 8 + n % 9),
    'tags', json_build_array('minutes', 'public', 'item ' || n % 12), 'words', 80 + n % 200, 'source', 'tape ' || n % 300,
    'recorded', timestamp '2024-01-11 09:00', 'language', 'en', 'edition', 1 + n % 3,
    'approved', timestamp '2024-02-01 12:00', 'room', 'Room ' || n % 4,
    'notes', json_build_array('applause', 'point of order ' || n % 5))::text
FROM generate_series(0, 79999) AS n;
CREATE INDEX ON speeches (meeting, id);
ANALYZE speeches;
