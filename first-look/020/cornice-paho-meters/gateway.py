"""Gateway of the metering radio: answers questions for a reading that come over MQTT.
gateway.py STATUS_PORT SHARED"""
import json, os, random, signal, socket, sys, threading, time
import paho.mqtt.client as mqtt

counters = {}


def reading(meter):
    counters[meter] = counters.get(meter, 1000.0 + hash(meter) % 500) + random.random()
    return json.dumps({"meter": meter, "kwh": round(counters[meter], 3), "at": time.time()})


def on_connect(client, userdata, flags, reason, properties):
    client.subscribe("meters/+/ask", qos=0)


def on_message(client, userdata, message):
    meter = message.topic.split("/")[1]
    ask = json.loads(message.payload)
    client.publish("office/replies/%s" % ask["to"], json.dumps({"n": ask["n"], "reading": json.loads(reading(meter))}), qos=0)


def status():
    server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    while True:
        server.accept()[0].close()


def main():
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id="gateway")
    client.on_connect = on_connect
    client.on_message = on_message
    signal.signal(signal.SIGTERM, lambda *a: os._exit(0))
    while True:
        try:
            client.connect("127.0.0.1", int(open(sys.argv[2] + "/broker.port").read()), keepalive=60)
            break
        except (OSError, ValueError):
            time.sleep(0.2)
    threading.Thread(target=status, daemon=True).start()
    client.loop_forever()


main()
