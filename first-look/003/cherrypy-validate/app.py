import re, sys, os
import cherrypy

name_rule = re.compile(r"^([A-Za-z]+\s?)+$")

class Shop:
    @cherrypy.expose
    def index(self):
        return "ok"

    @cherrypy.expose
    def check(self, name=""):
        return "valid" if name_rule.match(name) else "not valid"

cherrypy.config.update({"server.socket_host": "127.0.0.1", "server.socket_port": int(sys.argv[1]),
                        "server.thread_pool": 10, "log.screen": False, "engine.autoreload.on": False})
cherrypy.quickstart(Shop())
