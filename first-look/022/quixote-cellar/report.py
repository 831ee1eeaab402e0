"""Stock report: reads the wines in small portions and hands each to the printing house.

report.py PORT report-in-transaction|report-autocommit
"""
import itertools
import sys
import time

import psycopg

connection = psycopg.connect(host="127.0.0.1", port=int(sys.argv[1]), user="cellar", dbname="postgres",
                             application_name="stock-report", autocommit=sys.argv[2] == "report-autocommit")
for portion in itertools.count():
    rows = connection.execute(
        "SELECT id, name, bottles FROM wines WHERE id > %s ORDER BY id LIMIT 20", (portion * 20 % 4000,)).fetchall()
    time.sleep(0.5)  # the printing house takes the portion
