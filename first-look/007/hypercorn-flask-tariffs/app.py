import os
import threading

import psycopg2
from flask import Flask, jsonify

app = Flask(__name__)
TARIFFS = [{"name": "tariff %d" % i, "cents": 20 + i} for i in range(25)]
local = threading.local()


def db():
    if not hasattr(local, "conn"):
        local.conn = psycopg2.connect(host="127.0.0.1", port=os.environ["DB_PORT"], user="web", dbname="postgres")
        local.conn.autocommit = True
    return local.conn


@app.get("/tariffs")
def tariffs():
    return jsonify(TARIFFS)


@app.get("/statement/<int:customer>")
def statement(customer):
    cur = db().cursor()
    cur.execute("select customer, reading from statement(%s)", (customer,))
    row = cur.fetchone()
    return jsonify(customer=row[0], reading=row[1])
