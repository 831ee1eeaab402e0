import json, logging, sys
from bottle import Bottle, request
from cheroot import wsgi

audit = logging.getLogger("audit")
audit.setLevel(logging.INFO)
audit.addHandler(logging.StreamHandler(sys.stdout))
app = Bottle()
PROFILE = {"user": "u1", "roles": ["r%d" % i for i in range(700)]}


@app.get("/")
def ready():
    return "ok"


@app.get("/order/<n>")
def order(n):
    audit.info(json.dumps({"path": request.path, "headers": dict(request.headers), "profile": PROFILE}))
    return {"order": n, "state": "sent"}


server = wsgi.Server(("127.0.0.1", int(sys.argv[1])), app, numthreads=40)
server.start()
