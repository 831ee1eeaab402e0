import random
import sqlite3
import sys

random.seed(7)
db = sqlite3.connect(sys.argv[1])
db.executescript("""
create table products (id integer primary key, name text, category text, price real, supplier integer);
create table sales (id integer primary key, product integer references products(id), region text, quantity integer, amount real, day text);
""")
cats = ["paint", "timber", "garden", "tools", "lamps", "tiles"]
regions = ["north", "south", "east", "west", "islands"]
db.executemany("insert into products values (?,?,?,?,?)",
               ((i, f"{random.choice(cats)} no. {i}", random.choice(cats), round(random.uniform(2, 400), 2), i % 90) for i in range(4000)))
db.executemany("insert into sales values (?,?,?,?,?,?)",
               ((i, random.randint(0, 3999), random.choice(regions), random.randint(1, 9), round(random.uniform(2, 900), 2),
                 f"2024-{random.randint(1, 12):02}-{random.randint(1, 28):02}") for i in range(1, 200001)))
db.execute("create index sales_product on sales(product)")
db.commit()
