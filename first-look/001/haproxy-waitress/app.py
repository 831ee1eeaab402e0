import hashlib, os, time
from urllib.parse import parse_qs

ROUNDS = int(os.environ.get("ROUNDS", "0"))

def app(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/invoice":
        time.sleep(0.15)                 # the PDF service
        body = b"%PDF" + b"x" * 2000
    elif path == "/token":
        name = parse_qs(environ["QUERY_STRING"]).get("name", ["nobody"])[0]
        body = hashlib.pbkdf2_hmac("sha256", name.encode(), b"salt", ROUNDS).hex().encode()
    else:
        body = b"hello\n"
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
