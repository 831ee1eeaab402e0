import os, time
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

REPORT_S = float(os.environ.get("REPORT_S", "0.4"))

async def ready(request):
    return PlainTextResponse("ok")

def page(request):
    return PlainTextResponse("page")

def report(request):
    time.sleep(REPORT_S)         # the warehouse's driver blocks
    return PlainTextResponse("report")

app = Starlette(routes=[Route("/ready", ready), Route("/page", page), Route("/report", report)])
