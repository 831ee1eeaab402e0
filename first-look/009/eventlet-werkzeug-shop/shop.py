"""Shop front on eventlet's WSGI server: articles from memory, delivery days from the carrier."""
import json, os, sys
import eventlet
import eventlet.wsgi
import requests
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

ARTICLES = {i: {"id": i, "name": f"Article {i}", "cents": i * 37 % 9000} for i in range(1, 401)}
carrier = requests.Session()

def article(request, id):
    return ARTICLES[id]

def delivery(request, id):
    answer = carrier.get(os.environ["CARRIER"] + f"/slots?article={id}", timeout=3)
    return {"article": id, "day": answer.text}

def home(request):
    return {"shop": "open"}

urls = Map([
    Rule("/", endpoint=home),
    Rule("/article/<int:id>", endpoint=article),
    Rule("/delivery/<int:id>", endpoint=delivery),
])

@Request.application
def application(request):
    view, args = urls.bind_to_environ(request.environ).match()
    return Response(json.dumps(view(request, **args)), content_type="application/json")

if __name__ == "__main__":
    listener = eventlet.listen(("127.0.0.1", int(sys.argv[1])))
    eventlet.wsgi.server(listener, application, log_output=False)
