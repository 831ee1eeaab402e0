"""Celery worker with two processes: worker.py STATUS_PORT SHARED RATES QUOTES (rate limit, or "none")"""
import os, socket, sys, threading, time

sys.dont_write_bytecode = True
port, shared, rates, quotes = sys.argv[1:5]
while True:
    try:
        os.environ["REDIS_PORT"] = open(shared + "/redis.port").read().strip()
        socket.create_connection(("127.0.0.1", int(os.environ["REDIS_PORT"]))).close()
        break
    except (OSError, ValueError):
        time.sleep(0.2)
os.environ["RATES"] = rates
os.environ["QUOTES"] = "" if quotes == "none" else quotes

from celery.signals import worker_ready
from pricing import app


@worker_ready.connect
def status(**kwargs):
    server = socket.create_server(("127.0.0.1", int(port)))

    def loop():
        while True:
            server.accept()[0].close()

    threading.Thread(target=loop, daemon=True).start()


args = ["worker", "--concurrency", "2", "--pool", "prefork", "--without-gossip", "--without-mingle",
        "--without-heartbeat", "--loglevel", "WARNING"]
app.worker_main(args)
