import hashlib
import falcon


class Health:
    def on_get(self, req, resp):
        resp.text = "ok"


class Notes:
    def on_get(self, req, resp):
        resp.media = {"notes": ["milk", "bread", "tea"]}

    def on_post(self, req, resp):
        resp.media = {"sha1": hashlib.sha1(req.bounded_stream.read()).hexdigest()}


app = falcon.App()
app.add_route("/health", Health())
app.add_route("/notes", Notes())
