import hashlib, os, random
from urllib.parse import parse_qs

WORDS = int(os.environ.get("WORDS", "1000"))
lexicon = {}
for i in range(WORDS):
    h = hashlib.md5(b"%d" % i).hexdigest()
    lexicon[h[:8]] = {"lemma": h[8:14], "forms": [h[14:20], h[20:26]], "freq": i}

def application(environ, start_response):
    q = parse_qs(environ["QUERY_STRING"])
    body = repr(lexicon.get(q.get("w", [""])[0])).encode()
    if environ["PATH_INFO"] == "/suggest":
        for _ in range(random.randint(8, 16)):
            body = hashlib.sha256(b"".join(k.encode() for k in list(lexicon)[:900]) + body).hexdigest().encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
