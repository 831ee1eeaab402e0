"""The router service: travel time on a small road grid."""
import heapq
import sys
from baize.asgi import JSONResponse, Router, request_response
import uvicorn

SIZE = 14

def travel(a, b):
    seen, heap = {}, [(0, a)]
    while heap:
        cost, at = heapq.heappop(heap)
        if at in seen:
            continue
        seen[at] = cost
        if at == b:
            return cost
        x, y = at % SIZE, at // SIZE
        for nx, ny in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if 0 <= nx < SIZE and 0 <= ny < SIZE:
                heapq.heappush(heap, (cost + 1 + (nx * 7 + ny * 13) % 5, ny * SIZE + nx))

@request_response
async def route(request):
    n = request.path_params["n"]
    return JSONResponse({"minutes": travel(0, n * 31 % (SIZE * SIZE))})

uvicorn.run(Router(("/route/{n:int}", route)), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
