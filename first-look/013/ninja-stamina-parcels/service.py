# Parcel tracking: django-ninja under Daphne, the carrier is asked with httpx and stamina's retries.
import asyncio
import os

import django
from django.conf import settings

settings.configure(
    DEBUG=False, SECRET_KEY="parcels", ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, INSTALLED_APPS=[], MIDDLEWARE=[], USE_TZ=True,
    LOGGING_CONFIG=None)
django.setup()

import httpx  # noqa: E402
import stamina  # noqa: E402
from django.core.asgi import get_asgi_application  # noqa: E402
from django.urls import path  # noqa: E402
from ninja import NinjaAPI  # noqa: E402

api = NinjaAPI(docs_url=None, openapi_url=None)
stamina.instrumentation.set_on_retry_hooks([])
PLACES = [{"id": n, "town": f"town {n % 90}", "open": f"{7 + n % 4}:00"} for n in range(900)]
clients = {}


def carrier():
    loop = asyncio.get_running_loop()
    if loop not in clients:
        clients[loop] = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{os.environ['CARRIER_PORT']}", timeout=3, limits=httpx.Limits(max_keepalive_connections=40, keepalive_expiry=60))
    return clients[loop]


@stamina.retry(
    on=httpx.HTTPStatusError, attempts=5, timeout=4, wait_initial=float(os.environ.get("RETRY_WAIT", "0.2")),
    wait_jitter=float(os.environ.get("RETRY_JITTER", "0.05")))
async def ask(parcel):
    reply = await carrier().get(f"/state/{parcel}")
    reply.raise_for_status()
    return reply.json()


@api.get("/health")
async def health(request):
    return "ok"


@api.get("/parcel/{number}")
async def parcel(request, number: int):
    return {"parcel": number, "state": await ask(number)}


@api.get("/shop/{number}")
async def shop(request, number: int):
    return PLACES[number % len(PLACES)]


urlpatterns = [path("", api.urls)]
application = get_asgi_application()
