"""Freight prices, as Celery tasks."""
import csv
import os
import time
from decimal import Decimal

from celery import Celery
from celery.signals import worker_process_init

app = Celery("pricing")
app.conf.update(
    broker_url="redis://127.0.0.1:%s/0" % os.environ.get("REDIS_PORT", "6379"),
    result_backend="redis://127.0.0.1:%s/1" % os.environ.get("REDIS_PORT", "6379"),
    result_expires=60,
    task_ignore_result=False,
    broker_connection_retry_on_startup=True,
    worker_hijack_root_logger=False,
)
rates = {}


def trace(text):
    if os.environ.get("PRICING_TRACE"):
        with open(os.environ["PRICING_TRACE"], "a") as f:
            f.write("%.3f %d %s\n" % (time.time(), os.getpid(), text))


@worker_process_init.connect
def load_rates(**kwargs):
    """Each worker process has its own copy of the rate sheet, with a count of the questions."""
    begin = time.perf_counter()
    with open(os.environ["RATES"], newline="") as f:
        for row in csv.DictReader(f):
            rates[int(row["zone"]), int(row["kilo"])] = [Decimal(row["price"]), Decimal(row["surcharge"]), 0]
    trace("rates loaded in %.1f ms" % ((time.perf_counter() - begin) * 1e3))


# The carrier licenses the rate sheet for so many quotes a second, for instance "24/s".
@app.task(rate_limit=os.environ.get("QUOTES") or None)
def quote(zone, kilo):
    rate = rates[zone, kilo]
    rate[2] += 1
    trace("quote")
    return str(rate[0] + rate[1])
