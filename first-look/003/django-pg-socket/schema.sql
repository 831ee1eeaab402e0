CREATE TABLE book (id serial PRIMARY KEY, title text);
CREATE TABLE review (id serial PRIMARY KEY, book_id int, stars int);
INSERT INTO book (title) SELECT 'book ' || i FROM generate_series(1, 200) i;
INSERT INTO review (book_id, stars) SELECT i % 200 + 1, i % 5 + 1 FROM generate_series(1, 50000) i;
ANALYZE;
