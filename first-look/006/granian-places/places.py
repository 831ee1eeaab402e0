# a directory of places in memory, searched by the beginning of a name
import bisect, gc, random

from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route


class Place:
    def __init__(self, name, lat, lon, tags):
        self.name, self.pos, self.tags = name, [lat, lon], tags


rnd = random.Random(5)
parts = ["al", "ber", "cor", "dun", "el", "fal", "gar", "hol", "in", "jor", "kil", "lan", "mar", "nor", "ost", "pen"]
places = [Place("".join(rnd.choices(parts, k=4)) + str(i % 97), rnd.random(), rnd.random(), [i % 7, i % 11]) for i in range(200_000)]
places.sort(key=lambda p: p.name)
names = [p.name for p in places]
visits = 0


async def search(request):
    global visits
    visits += 1
    if visits % 60 == 0:
        gc.collect()  # keeps the resident size flat
    at = bisect.bisect_left(names, request.query_params.get("q", "al"))
    return JSONResponse([{"name": p.name, "pos": p.pos, "tags": p.tags} for p in places[at : at + 20]])


async def up(request):
    return PlainTextResponse("ok")


app = Starlette(routes=[Route("/search", search), Route("/up", up)])
