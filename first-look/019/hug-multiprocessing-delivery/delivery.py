"""Delivery quotes: a hug API; estimates are made in a child process, which holds the street register."""
import multiprocessing
import os

import hug
from falcon import HTTP_404

import register

ZONES = {n: {"zone": n, "name": "Zone %d" % n, "days": "Mon-Sat" if n < 9 else "Tue, Fri"} for n in range(1, 13)}

# One child, for the register is large; the geometry library used to leak, so a child goes after some tasks.
estimator = multiprocessing.get_context("forkserver").Pool(
    1, initializer=register.load, initargs=(os.environ["STREETS"],),
    maxtasksperchild=int(os.environ.get("MAX_TASKS_PER_CHILD", "0")) or None)


@hug.get("/health")
def health():
    return {"ok": estimator.apply(register.estimate, ("Oakwell", 1.0)) is not None}


@hug.get("/zones/{zone}")
def zone(zone: hug.types.number, response):
    if zone not in ZONES:
        response.status = HTTP_404
        return {"error": "no such zone"}
    return ZONES[zone]


@hug.post("/quotes/{street}")
def quote(street: hug.types.text, weight: hug.types.float_number, response):
    answer = estimator.apply(register.estimate, (street, weight))
    if answer is None:
        response.status = HTTP_404
        return {"error": "no such street"}
    return answer


application = __hug_wsgi__
