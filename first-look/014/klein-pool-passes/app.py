"""Visitor passes: Klein (Twisted). Passes are drawn in a multiprocessing.Pool, names come from redis."""
import json
import multiprocessing
import os
import redis
from klein import Klein
from twisted.internet import reactor
from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.internet.threads import deferToThread
from twisted.web.server import Site
import painter

app = Klein()
pool = None
names = redis.Redis(port=int(os.environ.get("REDIS_PORT", "6379")), decode_responses=True)


def paint(number, name):
    d = Deferred()
    pool.apply_async(
        painter.paint, (number, name),
        callback=lambda value: reactor.callFromThread(d.callback, value),
        error_callback=lambda error: reactor.callFromThread(d.errback, error))
    return d


@app.route("/passes/<number>", methods=["GET"])
@inlineCallbacks
def get_pass(request, number):
    name = yield deferToThread(names.hget, "visitors", str(int(number) % 500))
    value = yield paint(number, name)
    request.setHeader("content-type", "application/json")
    return json.dumps(value)


@app.route("/visitors/<number>", methods=["GET"])
@inlineCallbacks
def get_visitor(request, number):
    name = yield deferToThread(names.hget, "visitors", str(int(number) % 500))
    request.setHeader("content-type", "application/json")
    return json.dumps({"number": number, "name": name})


@app.route("/health")
def health(request):
    return "ok"


def main():
    global pool
    names.hset("visitors", mapping={str(i): "Visitor %d" % i for i in range(500)})
    context = multiprocessing.get_context("forkserver")
    # One worker: the drawing library is not free of leaks, so it starts anew after some tasks.
    tasks = int(os.environ.get("TASKS_PER_CHILD", "30")) or None
    pool = context.Pool(1, initializer=painter.load, initargs=(os.environ["FONTS"],), maxtasksperchild=tasks)
    pool.apply(painter.paint, ("0", "first"))
    reactor.suggestThreadPoolSize(16)
    reactor.listenTCP(int(os.environ["PORT"]), Site(app.resource()), interface="127.0.0.1", backlog=128)
    reactor.run()
