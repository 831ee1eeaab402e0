"""A shop on CherryPy whose delivery dates come from the carrier, behind the circuitbreaker package."""
import os
import sys

import cherrypy
import requests
from circuitbreaker import CircuitBreakerError, circuit

CARRIER = "http://127.0.0.1:" + sys.argv[2]
session = requests.Session()
session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=60))
counts = {"asked": 0, "not asked": 0, "timeout": 0}


@circuit(failure_threshold=4, recovery_timeout=float(os.environ.get("RESET_S", "0.6")),
         expected_exception=requests.RequestException)
def ask_carrier(zip_code):
    counts["asked"] += 1
    r = session.get(CARRIER + "/date", params={"zip": zip_code}, timeout=float(os.environ.get("TIMEOUT_S", "0.4")))
    r.raise_for_status()
    return r.text


class Shop:
    @cherrypy.expose
    def index(self):
        return "shop\n"

    @cherrypy.expose
    def stats(self):
        return repr(counts)

    @cherrypy.expose
    def delivery(self, zip="1"):
        try:
            return ask_carrier(zip)
        except CircuitBreakerError:
            counts["not asked"] += 1
            cherrypy.response.status = 503
            return "carrier not asked\n"
        except requests.RequestException:
            counts["timeout"] += 1
            cherrypy.response.status = 504
            return "carrier did not answer\n"


cherrypy.config.update({"server.socket_host": "127.0.0.1", "server.socket_port": int(sys.argv[1]),
                        "server.thread_pool": 70, "log.screen": False, "engine.autoreload.on": False})
cherrypy.quickstart(Shop())
