"""The tables of the magazine, for mariadbd --bootstrap (one statement a line)."""
import random

rnd = random.Random(3)
words = "harbour winter letter garden copper window river market paper summer stone engine morning island".split()
print("CREATE DATABASE magazine;")
print("USE magazine;")
print("CREATE TABLE authors (id INT PRIMARY KEY, name VARCHAR(80), about TEXT) ENGINE=InnoDB;")
print("CREATE TABLE articles (id INT PRIMARY KEY, author_id INT, title VARCHAR(200), body TEXT, views INT NOT NULL DEFAULT 0, KEY(author_id)) ENGINE=InnoDB;")
for i in range(1, 41):
    print("INSERT INTO authors VALUES (%d, '%s %s', '%s');" % (
        i, rnd.choice(words).title(), rnd.choice(words).title(), " ".join(rnd.choice(words) for _ in range(40))))
for i in range(1, 401):
    print("INSERT INTO articles VALUES (%d, %d, '%s', '%s', 0);" % (
        i, rnd.randrange(1, 41), " ".join(rnd.choice(words) for _ in range(5)), " ".join(rnd.choice(words) for _ in range(220))))
