"""Meter readings: a small JSON service on Cornice (Pyramid), served by Waitress.

Readings of meters on mains power come from the register that the service keeps; a
meter that runs on a battery sends nothing by itself, so it is asked over MQTT and the
answer comes back on a topic of this process."""
import itertools, json, os, signal, socket, threading, time

import paho.mqtt.client as mqtt
from cornice import Service
from pyramid.config import Configurator
from pyramid.httpexceptions import HTTPGatewayTimeout
from waitress import serve

TRACE = open(os.environ["METERS_TRACE"], "a", buffering=1) if os.environ.get("METERS_TRACE") else None


class Radio:
    """Questions to meters and their answers over one MQTT connection."""

    def __init__(self, port):
        self.me = "office-%d" % os.getpid()
        self.numbers = itertools.count(1)
        self.waiting = {}
        self.ready = threading.Event()
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=self.me)
        self.client.on_connect = self.on_connect
        self.client.on_subscribe = lambda *a: self.ready.set()
        self.client.on_message = self.on_message
        self.client.on_publish = self.on_publish
        self.client.connect("127.0.0.1", port, keepalive=60)
        self.client.loop_start()
        self.ready.wait(20)

    def on_connect(self, client, userdata, flags, reason, properties):
        client.subscribe("office/replies/" + self.me, qos=0)

    def on_publish(self, client, userdata, mid, reason, properties):
        if TRACE:
            TRACE.write("%.6f ack %d\n" % (time.time(), mid))

    def on_message(self, client, userdata, message):
        answer = json.loads(message.payload)
        slot = self.waiting.pop(answer["n"], None)
        if slot:
            slot[1] = answer["reading"]
            slot[0].set()

    def ask(self, meter):
        n = next(self.numbers)
        slot = self.waiting[n] = [threading.Event(), None]
        start = time.perf_counter()
        self.client.publish("meters/%s/ask" % meter, json.dumps({"n": n, "to": self.me}), qos=1)
        if not slot[0].wait(5):
            self.waiting.pop(n, None)
            raise HTTPGatewayTimeout()
        if TRACE:
            TRACE.write("%.6f ask %s %.1f\n" % (time.time(), meter, (time.perf_counter() - start) * 1e3))
        return slot[1]


radio = None
register = {str(100 + i): {"meter": str(100 + i), "kwh": 1200.5 + i, "at": 1764201600} for i in range(400)}
battery = {str(n) for n in range(107, 500, 13)}

reading = Service(name="reading", path="/meters/{meter}/reading", description="last reading of a meter")
tariff = Service(name="tariff", path="/meters/{meter}/tariff", description="tariff of a meter")
health = Service(name="health", path="/health", description="is it there")


@reading.get(renderer="json")
def get_reading(request):
    meter = request.matchdict["meter"]
    if meter in battery:
        register[meter] = radio.ask(meter)
    return register[meter]


@tariff.get(renderer="json")
def get_tariff(request):
    number = int(request.matchdict["meter"])
    return {"meter": str(number), "tariff": "night" if number % 3 else "flat", "cent": 21.7 + number % 7}


@health.get(renderer="string")
def get_health(request):
    return "ok"


def main():
    global radio
    radio = Radio(int(os.environ["MQTT_PORT"]))
    config = Configurator()
    config.include("cornice")
    config.scan("__main__")
    signal.signal(signal.SIGTERM, lambda *a: os._exit(0))
    serve(config.make_wsgi_app(), host="127.0.0.1", port=int(os.environ["PORT"]), threads=16, ident=None)


if __name__ == "__main__":
    main()
