"""Features of a map: tiles are read from disk and the latest are kept decoded in memory."""
import gc, json, os, sys
from collections import OrderedDict
from twisted.internet import endpoints, reactor
from twisted.web import resource, server

TILES = os.environ["TILES"]
KEEP = int(os.environ.get("KEEP", "100"))
FILES = len(os.listdir(TILES))
cache = OrderedDict()


def tile(n):
    if n in cache:
        cache.move_to_end(n)
        return cache[n]
    with open(f"{TILES}/{n}.json", "rb") as f:
        cache[n] = json.loads(f.read())
    if len(cache) > KEEP:
        cache.popitem(last=False)
    return cache[n]


class Feature(resource.Resource):
    isLeaf = True

    def render_GET(self, request):
        number = int(request.postpath[0])
        features = tile(number % FILES)["features"]
        request.setHeader(b"content-type", b"application/geo+json")
        return json.dumps(features[number // FILES % len(features)]).encode()


class Tiles(resource.Resource):
    isLeaf = True

    def render_GET(self, request):
        request.setHeader(b"content-type", b"application/json")
        return json.dumps({"tiles": FILES, "loaded": len(cache)}).encode()


for n in range(FILES - KEEP, FILES):
    tile(n)
if os.environ.get("GC_LOG"):
    import time
    started = {}

    def note(phase, info):
        if info["generation"] == 2:
            if phase == "start":
                started["t"] = time.perf_counter()
            else:
                print(f"{time.time():.3f} gen2 {1e3 * (time.perf_counter() - started['t']):.1f} ms, {len(gc.get_objects())} objects", file=sys.stderr, flush=True)
    gc.callbacks.append(note)
root = resource.Resource()
root.putChild(b"feature", Feature())
root.putChild(b"tiles", Tiles())
endpoints.serverFromString(reactor, f"tcp:{sys.argv[1]}:interface=127.0.0.1:backlog=128").listen(server.Site(root, timeout=60))
reactor.run()
