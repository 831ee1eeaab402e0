"""Parcel dispatch: Flask 3 with flask-smorest under mod_wsgi; each decision goes to syslog."""
import json
import logging
import logging.handlers
import os
import time

import redis
from flask import Flask
from flask.views import MethodView
from flask_smorest import Api, Blueprint, abort
from marshmallow import Schema, fields, validate

conf = json.load(open(os.environ["DISPATCH_CONF"]))

log = logging.getLogger("dispatch")
log.setLevel(logging.INFO)
handler = logging.handlers.SysLogHandler(address=conf["log_socket"], facility="local3")
handler.ident = "dispatch[%d]: " % os.getpid()
handler.setFormatter(logging.Formatter("%(levelname)s %(threadName)s %(message)s"))
log.addHandler(handler)
log.propagate = False

if conf.get("timing_log"):
    emit = handler.emit

    def timed(record):
        t = time.perf_counter()
        emit(record)
        with open(conf["timing_log"], "a") as f:
            f.write("%.3f %d send %.2f ms\n" % (time.time(), os.getpid(), 1e3 * (time.perf_counter() - t)))

    handler.emit = timed

store = redis.Redis(port=conf["redis_port"], decode_responses=True)
app = Flask(__name__)
app.config.update(API_TITLE="dispatch", API_VERSION="v1", OPENAPI_VERSION="3.0.3")
api = Api(app)
blp = Blueprint("parcels", "parcels", url_prefix="/parcels")

DEPOTS = ["north", "harbour", "airport", "east", "market", "quarry", "lake", "mill"]


class ParcelIn(Schema):
    ref = fields.Integer(required=True)
    weight = fields.Float(required=True, validate=validate.Range(min=0))
    zone = fields.Integer(load_default=3)


class ParcelOut(Schema):
    id = fields.Integer()
    ref = fields.Integer()
    depot = fields.String()
    tariff = fields.String()


@blp.route("/<int:parcel_id>")
class Parcel(MethodView):
    @blp.response(200, ParcelOut)
    def get(self, parcel_id):
        row = store.hgetall("parcel:%d" % parcel_id)
        return row or {"id": parcel_id, "ref": 0, "depot": "none", "tariff": "none"}

    @blp.arguments(ParcelIn)
    @blp.response(201, ParcelOut)
    def post(self, data, parcel_id):
        log.info("parcel %d received %s", parcel_id, json.dumps({"data": data, "audit": audit("receive", parcel_id)}))
        scores = {d: ((parcel_id * 31 + i * 17 + data["ref"]) % 97) / 97 for i, d in enumerate(DEPOTS)}
        log.info("parcel %d depots weighed %s", parcel_id, json.dumps({"scores": scores, "audit": audit("weigh", parcel_id)}))
        depot = max(scores, key=scores.get)
        log.info("parcel %d depot chosen %s", parcel_id, json.dumps({"depot": depot, "audit": audit("depot", parcel_id)}))
        tariff = "bulk" if data["weight"] > 20 else "letter" if data["weight"] < 0.5 else "parcel"
        log.info("parcel %d tariff chosen %s", parcel_id, json.dumps({"tariff": tariff, "audit": audit("tariff", parcel_id)}))
        row = {"id": parcel_id, "ref": data["ref"], "depot": depot, "tariff": tariff}
        store.hset("parcel:%d" % parcel_id, mapping=row)
        log.info("parcel %d stored %s", parcel_id, json.dumps({"row": row, "audit": audit("store", parcel_id)}))
        log.info("parcel %d dispatched %s", parcel_id, json.dumps({"depot": depot, "audit": audit("dispatch", parcel_id)}))
        return row


def audit(step, parcel_id):
    """What the auditors want beside each decision: the rules that were looked at."""
    seed = hash((step, parcel_id, time.time_ns()))
    return [{"rule": "%s-%d" % (step, k), "depot": DEPOTS[(seed >> k) % 8], "weight": (seed >> (3 * k)) % 9973}
            for k in range(12)]


@app.get("/health")
def health():
    return {"ok": True}


api.register_blueprint(blp)
