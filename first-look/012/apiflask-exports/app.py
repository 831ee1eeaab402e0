import io
import os
import sqlite3
import threading
from apiflask import APIFlask
from openpyxl import Workbook

app = APIFlask(__name__, enable_openapi=False)
ROWS = int(os.environ.get("EXPORT_ROWS", "1500"))
local = threading.local()

def db():
    if not hasattr(local, "con"):
        local.con = sqlite3.connect(os.environ["SHOP_DB"])
    return local.con

@app.get("/health")
def health():
    return "ok"

@app.get("/item/<int:n>")
def item(n):
    con = db()
    n = n % 5000 + 1
    row = con.execute("SELECT name, price, stock, shelf FROM item WHERE id = ?", (n,)).fetchone()
    near = con.execute("SELECT id, name FROM item WHERE shelf = ? LIMIT 5", (row[3],)).fetchall()
    before = con.execute("SELECT id, name FROM item WHERE id < ? ORDER BY id DESC LIMIT 1", (n,)).fetchone()
    after = con.execute("SELECT id, name FROM item WHERE id > ? ORDER BY id LIMIT 1", (n,)).fetchone()
    held = con.execute("SELECT SUM(stock) FROM item WHERE shelf = ?", (row[3],)).fetchone()[0]
    return {"id": n, "name": row[0], "price": row[1], "stock": row[2], "near": near,
            "before": before, "after": after, "shelf_stock": held}

@app.get("/shelf/<int:n>")
def shelf(n):
    rows = db().execute("SELECT id, name, price, stock FROM item WHERE shelf = ?", (n % 100,)).fetchall()
    return {"shelf": n % 100, "items": rows}

@app.get("/export.xlsx")
def export():
    book = Workbook()
    sheet = book.active
    sheet.append(["id", "name", "price", "stock", "value", "shelf"])
    for r in db().execute("SELECT id, name, price, stock, price * stock, shelf FROM item LIMIT ?", (ROWS,)):
        sheet.append(r)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue(), 200, {"Content-Type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
