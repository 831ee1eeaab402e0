import gc
import itertools
import os
import connexion
from waitress import serve

PLACES = [
    {"id": i, "name": f"place {i}", "pos": [i * 37 % 1000, i * 91 % 1000], "tags": [{"k": "kind", "v": ["a", "b", i]}]}
    for i in range(int(os.environ.get("PLACES", "90000")))
]
served = itertools.count(1)


def place(pid):
    return PLACES[pid % len(PLACES)]


def near(pid):
    x, y = PLACES[pid % len(PLACES)]["pos"]
    found = [p for p in PLACES[:1500] if abs(p["pos"][0] - x) + abs(p["pos"][1] - y) < 40]
    return {"near": found[:5]}


app = connexion.App(__name__, specification_dir=os.path.dirname(os.path.abspath(__file__)), options={"swagger_ui": False})
app.add_api("api.yaml")


@app.app.after_request
def tidy(response):
    # keep the resident size flat
    if next(served) % 50 == 0:
        gc.collect()
    return response


if __name__ == "__main__":
    serve(app.app, host="127.0.0.1", port=int(os.environ["PORT"]), threads=6)
