import os, sys, cherrypy

class Site:
    @cherrypy.expose
    def index(self):
        return "<a href=/doc/0>handbook</a>"

    @cherrypy.expose
    def doc(self, chapter):
        with open(os.path.join(sys.argv[2], "chapter-%d.html" % int(chapter)), "rb") as f:
            return f.read()

cherrypy.config.update({"server.socket_host": "127.0.0.1", "server.socket_port": int(sys.argv[1]), "server.thread_pool": 72,
                        "log.screen": False, "engine.autoreload.on": False, "checker.on": False})
cherrypy.quickstart(Site(), "/")
