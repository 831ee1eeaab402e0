import os
import threading
import time

from django.db import connection
from django.urls import path
from rest_framework.decorators import api_view
from rest_framework.response import Response

from regions import region

TRACE = os.environ.get("TRACE_FILE")
trace = open(TRACE, "a", buffering=1) if TRACE else None

TOP = """select b.id, b.title, sum(s.copies) as sold, count(distinct s.day) as days
         from sale s join book b on b.id = s.book
         where s.shelf = %s group by b.id order by sold desc limit 20"""


@region.cache_on_arguments()
def bestsellers(shelf):
    began = time.monotonic()
    with connection.cursor() as cur:
        cur.execute(TOP, [shelf])
        rows = cur.fetchall()
    if trace:
        trace.write("create %.3f %s %.1f %s\n" % (began, shelf, (time.monotonic() - began) * 1000, threading.current_thread().name))
    return [{"id": r[0], "title": r[1], "sold": r[2], "days": r[3]} for r in rows]


@api_view(["GET"])
def top(request, shelf):
    return Response({"shelf": shelf, "books": bestsellers(shelf)})


@api_view(["GET"])
def book(request, ident):
    with connection.cursor() as cur:
        cur.execute("select id, title, shelf from book where id = %s", [ident])
        row = cur.fetchone()
    return Response({"id": row[0], "title": row[1], "shelf": row[2]} if row else {}, status=200 if row else 404)


@api_view(["GET"])
def health(request):
    for shelf in ("crime", "travel", "poetry", "cooking", "history", "garden"):
        bestsellers(shelf)
    return Response({"ok": True})


urlpatterns = [
    path("bestsellers/<str:shelf>", top),
    path("books/<int:ident>", book),
    path("health", health),
]
