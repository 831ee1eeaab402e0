"""Toll accounts of lorries: SOAP's younger sister, Spyne with HttpRpc in and JSON out; accounts are kept in DynamoDB."""
import gc
import os
import time

import boto3
from botocore.config import Config
from spyne import Application, Fault, Integer, ServiceBase, Unicode, rpc
from spyne.model.complex import ComplexModel
from spyne.protocol.http import HttpRpc
from spyne.protocol.json import JsonDocument
from spyne.server.wsgi import WsgiApplication
from waitress import serve

NS = "tolls.example"
TRACE = os.environ.get("TOLLS_TRACE")

dynamodb = boto3.client(
    "dynamodb",
    endpoint_url="http://127.0.0.1:%s" % os.environ["DYNAMODB_PORT"],
    region_name="eu-central-1",
    aws_access_key_id="tolls",
    aws_secret_access_key="tolls",
    config=Config(max_pool_connections=32, connect_timeout=2, read_timeout=5),
)

TARIFFS = {
    ("%d" % axles, emission): 62 * axles + 14 * number
    for axles in range(2, 6)
    for number, emission in enumerate(("euro3", "euro4", "euro5", "euro6"))
}


class Account(ComplexModel):
    __namespace__ = NS
    plate = Unicode
    owner = Unicode
    credit = Integer
    axles = Integer


class Tariff(ComplexModel):
    __namespace__ = NS
    axles = Integer
    emission = Unicode
    cents_per_km = Integer


class TollService(ServiceBase):
    @rpc(Unicode(min_occurs=1, max_len=16), _returns=Account)
    def account(ctx, plate):
        begin = time.perf_counter()
        answer = dynamodb.get_item(TableName="accounts", Key={"plate": {"S": plate}})
        if TRACE:
            with open(TRACE, "a") as f:
                f.write("%.3f %.1f retries=%d\n" % (
                    time.time(), (time.perf_counter() - begin) * 1000, answer["ResponseMetadata"]["RetryAttempts"]))
        item = answer.get("Item")
        if item is None:
            raise Fault("Client.NotFound", "no account for this plate")
        return Account(plate=plate, owner=item["owner"]["S"], credit=int(item["credit"]["N"]), axles=int(item["axles"]["N"]))

    @rpc(Unicode(min_occurs=1), Unicode(min_occurs=1), _returns=Tariff)
    def tariff(ctx, axles, emission):
        cents = TARIFFS.get((axles, emission))
        if cents is None:
            raise Fault("Client.NotFound", "no such class")
        return Tariff(axles=int(axles), emission=emission, cents_per_km=cents)

    @rpc(_returns=Unicode)
    def ping(ctx):
        return "ok"


application = Application([TollService], NS, in_protocol=HttpRpc(validator="soft"), out_protocol=JsonDocument())


def content_length(app):
    """Spyne's own chunked=False does not work with bytes; a length keeps the connection alive"""
    def wrapped(environ, start_response):
        started = []

        def start(status, headers, exc_info=None):
            started[:] = [status, headers]

        body = b"".join(app(environ, start))
        status, headers = started
        headers = [h for h in headers if h[0].lower() != "content-length"] + [("Content-Length", str(len(body)))]
        start_response(status, headers)
        return [body]
    return wrapped


if __name__ == "__main__":
    gc.collect()
    gc.freeze()  # botocore's models stay for good
    serve(content_length(WsgiApplication(application)), host="127.0.0.1", port=int(os.environ["PORT"]), threads=20, ident="tolls")
