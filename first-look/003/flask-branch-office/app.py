import ctypes, os, queue, socket, sys, time
import requests, urllib3
from flask import Flask, request
from werkzeug.serving import WSGIRequestHandler, make_server

app = Flask(__name__)
CENTRAL = "http://10.9.0.2:8080"

class Memcached:
    """a small client of the text protocol"""
    def __init__(self):
        self.sock = socket.create_connection(("10.9.0.2", 11211))
        self.file = self.sock.makefile("rb")

    def get(self, key):
        self.sock.sendall(b"get %s\r\n" % key)
        value = None
        while not (line := self.file.readline()).startswith(b"END"):
            value = self.file.read(int(line.split()[3]) + 2)[:-2]
        return value

    def set(self, key, value):
        head = b"set %s 0 0 %d\r\n" % (key, len(value))
        if len(value) < 1000:
            self.sock.sendall(head + value + b"\r\n")
        else:  # do not copy larger values
            self.sock.sendall(head)
            self.sock.sendall(value + b"\r\n")
        return self.file.readline()

clients = queue.LifoQueue()

def cache(call, *args):
    try:
        c = clients.get_nowait()
    except queue.Empty:
        c = Memcached()
    try:
        return getattr(c, call)(*args)
    finally:
        clients.put(c)

@app.get("/session/<name>")
def session(name):
    return cache("get", name.encode()) or "none"

@app.get("/save/<name>")
def save(name):
    return cache("set", name.encode(), b"x" * int(request.args["n"]))

def central(path):
    s = requests.Session()
    connect = float(os.environ.get("CONNECT_S", "5"))
    s.mount("http://", requests.adapters.HTTPAdapter(max_retries=urllib3.Retry(total=None, connect=80, backoff_factor=0.05, backoff_max=0.1)))
    with s:
        return s.get(CENTRAL + path, timeout=(connect, 10)).text

@app.get("/price/<item>")
def price(item):
    return central("/price/" + item)

@app.get("/catalogue/<item>")
def catalogue(item):
    return central("/catalogue/" + item)

@app.get("/sync")
def sync():
    return str(sum(len(central("/price/%d" % i)) for i in range(int(request.args["n"]))))

@app.get("/")
def index():
    return "branch office"

if __name__ == "__main__":
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", int(sys.argv[1])))
    sock.listen(128)
    note = "/tmp/link-" + sys.argv[2]
    while not os.path.exists(note):
        time.sleep(0.05)
    fd = os.open(open(note).read().split()[0], os.O_RDONLY)  # the branch's side of the link
    if ctypes.CDLL(None).setns(fd, 0x40000000):
        raise OSError("setns")
    WSGIRequestHandler.protocol_version = "HTTP/1.1"
    make_server("127.0.0.1", int(sys.argv[1]), app, threaded=True, fd=sock.fileno()).serve_forever()
