"""Articles in a file of 4 KiB records that is read with O_DIRECT, past the page cache."""
import mmap
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor

import falcon

N = 40000
PATH = os.environ["DB"]


def fill():
    with open(PATH, "wb") as f:
        for i in range(N):
            f.write(random.randbytes(4096))
        f.flush()
        os.fsync(f.fileno())


class Store:
    def __init__(self):
        self.fd = os.open(PATH, os.O_RDONLY | os.O_DIRECT)
        self.readers = ThreadPoolExecutor(48)

    def read(self, i):
        record = mmap.mmap(-1, 4096)           # aligned as O_DIRECT wants it
        return os.preadv(self.fd, [record], i * 7919 % N * 4096)

    def read_many(self, ids):
        return sum(self.readers.map(self.read, ids))


class Article:
    def on_get(self, req, resp):
        resp.text = f"{store.read(req.get_param_as_int('id'))} bytes\n"


class Bundle:
    """A reading list: fifty articles, read at the same time."""
    def on_get(self, req, resp):
        i = req.get_param_as_int("id")
        resp.text = f"{store.read_many(range(i * 60, i * 60 + 50))} bytes\n"


class Health:
    def on_get(self, req, resp):
        resp.text = "ok\n"


if sys.argv[1:] == ["fill"]:
    fill()
else:
    store = Store()
    app = falcon.App()
    app.add_route("/article", Article())
    app.add_route("/bundle", Bundle())
    app.add_route("/health", Health())
