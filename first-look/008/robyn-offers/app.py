import json, os, sys
import requests
from robyn import Robyn

app = Robyn(__file__)
PARTNER = os.environ["PARTNER"]
session = requests.Session()
session.trust_env = False
TITLES = ["Lamp", "Chair", "Desk", "Shelf", "Rug"]

@app.get("/page/:id")
async def page(request):
    n = int(request.path_params.get("id"))
    return json.dumps({"id": n, "title": TITLES[n % 5], "related": [(n + k) % 500 for k in range(12)]})

@app.get("/offers/:id")
async def offers(request):
    n = int(request.path_params.get("id"))
    reply = session.get(f"{PARTNER}/offers/{n}?ms=110", timeout=5).json()
    return json.dumps({"id": n, "price": 40 * reply["rate"]})

@app.get("/health")
async def health(request):
    return "ok"

if __name__ == "__main__":
    app.start(host="127.0.0.1", port=int(os.environ["PORT"]), _check_port=False)
