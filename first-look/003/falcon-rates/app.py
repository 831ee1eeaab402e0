import os, sys
import falcon, requests
from cheroot.wsgi import Server

RATES = "http://rates.vendor.test:%s/today" % os.environ["RATES_PORT"]

class Home:
    def on_get(self, req, resp):
        resp.text = "ok"

class Rates:
    def on_get(self, req, resp):
        resp.text = requests.get(RATES, timeout=5).text

app = falcon.App()
app.add_route("/", Home())
app.add_route("/rates", Rates())
Server(("127.0.0.1", int(sys.argv[1])), app, numthreads=20).start()
