import functools, json, os, sys
import requests, django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse, HttpResponse
from django.template import Template, Context
from django.urls import path

settings.configure(DEBUG=False, SECRET_KEY="x", ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, MIDDLEWARE=[],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}], LOGGING_CONFIG=None)

PARTNER = os.environ.get("PARTNER", "")
MARGINS = {"retail": 0.18, "trade": 0.11, "export": 0.07}
session = requests.Session()
session.trust_env = False

class Quote:
    def __init__(self, channel, sku):
        self.channel, self.sku = channel, sku

    @functools.cached_property
    def margin(self):
        if self.channel in MARGINS:
            return MARGINS[self.channel]
        reply = session.get(PARTNER + "/margin?ms=120&partner=" + self.channel, timeout=5).json()
        return reply["rate"] / 10

    def as_dict(self):
        base = 100 + hash(self.sku) % 900
        return {"sku": self.sku, "channel": self.channel, "price": round(base * (1 + self.margin), 2), "margin": self.margin}

django.setup()

def quote(request, channel, sku):
    return JsonResponse(Quote(channel, sku).as_dict())

LIST = Template("<table>{% for q in quotes %}<tr><td>{{ q.sku }}</td><td>{{ q.channel|title }}</td>"
                "<td>{{ q.price|floatformat:2 }}</td></tr>{% endfor %}</table>")

def pricelist(request, channel):
    rows = [Quote(channel, "sku-%d" % i).as_dict() for i in range(int(request.GET.get("n", 60)))]
    return HttpResponse(LIST.render(Context({"quotes": rows})))

urlpatterns = [path("quote/<channel>/<sku>", quote), path("pricelist/<channel>", pricelist)]
application = get_wsgi_application()

if __name__ == "__main__":
    from cheroot.wsgi import Server
    server = Server(("127.0.0.1", int(sys.argv[1])), application, numthreads=int(os.environ.get("THREADS", "12")), request_queue_size=128)
    try:
        server.start()
    except KeyboardInterrupt:
        server.stop()
