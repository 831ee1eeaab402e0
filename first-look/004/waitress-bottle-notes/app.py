"""Notes are stored compressed; the answer is the stored size."""
import json, sys, zlib
from bottle import Bottle, request
from waitress import serve

app = Bottle()
TEXT = json.dumps([{"line": i, "words": f"note {i * 7919 % 10007} of the {i % 31}th, seen by {i * 31 % 977}"} for i in range(1500)]).encode()


@app.get("/health")
def health():
    return "ok"


@app.post("/notes/<number:int>")
def note(number):
    stored = zlib.compress(str(number).encode() + TEXT, 6)
    return {"note": number, "stored": len(stored)}


serve(app, listen=f"127.0.0.1:{sys.argv[1]}", threads=8, channel_timeout=120)
