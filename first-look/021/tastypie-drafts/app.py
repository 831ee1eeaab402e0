"""Drafts of an editorial office: Django with tastypie; the text that is being written lives in
memcached (pymemcache) until it is published."""
import base64
import hashlib
import os
import random
import threading
import time

from django.conf import settings

settings.configure(
    DEBUG=False,
    SECRET_KEY="drafts",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF="app",
    USE_TZ=True,
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "tastypie"],
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    TASTYPIE_DEFAULT_FORMATS=["json"],
)

import django

django.setup()

from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import include, path
from pymemcache.client.base import Client
from tastypie import fields
from tastypie.api import Api
from tastypie.authorization import Authorization
from tastypie.resources import Resource

LOG = os.environ.get("TIMING_LOG")
SNAPSHOT_EVERY = 6

local = threading.local()


def memcache():
    """The thread's own connection. Stores are fire and forget (pymemcache's default_noreply)
    where nothing depends on their outcome."""
    if not hasattr(local, "client"):
        local.client = Client(
            ("127.0.0.1", int(os.environ["CACHE_PORT"])),
            connect_timeout=2,
            timeout=5,
            no_delay=os.environ.get("CACHE_NODELAY") == "1",
        )
    return local.client


class Draft:
    def __init__(self, id=None, rev=0, author="", text="", size=0):
        self.id, self.rev, self.author, self.text, self.size = id, rev, author, text, size


def timed(what, call, *args, **kwargs):
    t = time.perf_counter()
    out = call(*args, **kwargs)
    if LOG:
        with open(LOG, "a") as f:
            f.write(f"{time.time():.3f} {what} {(time.perf_counter() - t) * 1e3:.2f}\n")
    return out


def picture(draft, rev):
    """The page's picture as the editor embeds it in the text (data URI of a JPEG)."""
    rnd = random.Random(f"{draft}/{rev}")
    return base64.b64encode(rnd.randbytes(rnd.randint(4000, 9000))).decode()


class DraftResource(Resource):
    id = fields.CharField(attribute="id")
    rev = fields.IntegerField(attribute="rev")
    author = fields.CharField(attribute="author")
    text = fields.CharField(attribute="text")
    size = fields.IntegerField(attribute="size")

    class Meta:
        resource_name = "drafts"
        object_class = Draft
        authorization = Authorization()
        allowed_methods = ["get", "put"]
        always_return_data = True
        include_resource_uri = False

    def obj_get(self, bundle, **kwargs):
        id = kwargs["pk"]
        rev = int(timed("rev", memcache().get, f"rev:{id}") or 0)
        return Draft(id, rev, "desk")

    def obj_update(self, bundle, **kwargs):
        """Saves one batch of key strokes: a short change each time, the whole page each sixth time."""
        id, data, store = kwargs["pk"], bundle.data, memcache()
        rev = timed("incr", store.incr, f"rev:{id}", 1, noreply=False)
        if rev is None:
            store.add(f"rev:{id}", "1", noreply=False)
            rev = 1
        change = f"{data['at']}:{data['text']}"
        # undo depends on it: wait for the answer
        timed("change", store.set, f"change:{id}:{rev % 64}", change, expire=86400, noreply=False)
        size, readers = len(change), 0
        if rev % SNAPSHOT_EVERY == 0:
            page = f"<article id={id} rev={rev}><img src='data:image/jpeg;base64,{picture(id, rev)}'></article>"
            store.set(f"page:{id}", page, expire=86400)
            readers = len(timed("readers", store.get, f"readers:{id}") or b"")
            size = len(page)
        bundle.obj = Draft(id, rev, data.get("author", "desk"),
                           hashlib.sha1(change.encode()).hexdigest(), size + readers)
        return bundle


class OfficeResource(Resource):
    id = fields.CharField(attribute="id")
    name = fields.CharField(attribute="author")

    class Meta:
        resource_name = "offices"
        object_class = Draft
        allowed_methods = ["get"]
        include_resource_uri = False

    def obj_get_list(self, bundle, **kwargs):
        return [Draft(id=c, author=n) for c, n in
                (("ber", "Berlin"), ("vie", "Wien"), ("zrh", "Zuerich"), ("ham", "Hamburg"))]

    def get_object_list(self, request):
        return self.obj_get_list(None)


api = Api(api_name="v1")
api.register(DraftResource())
api.register(OfficeResource())


def health(request):
    return JsonResponse({"ok": True})


urlpatterns = [path("health/", health), path("api/", include(api.urls))]
application = get_wsgi_application()
