"""GraphQL over a catalogue of spare parts that is kept in memory as objects."""
import gc
import os
from ariadne import ObjectType, QueryType, gql, make_executable_schema
from ariadne.asgi import GraphQL
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

class Part:
    def __init__(self, number):
        self.number = number
        self.name = f"part {number}"
        self.fits = [number * 7 % 997, number * 11 % 997]
        self.stock = {"north": number % 13, "south": number % 7}

PARTS = [Part(n) for n in range(int(os.environ.get("PARTS", "250000")))]
if os.environ.get("FREEZE") == "1":
    gc.freeze()  # the catalogue never becomes garbage: keep it out of collections

query, part = QueryType(), ObjectType("Part")

@query.field("part")
def resolve_part(_, info, number):
    return PARTS[number % len(PARTS)]

@query.field("range")
def resolve_range(_, info, start, count):
    return [PARTS[(start + i) % len(PARTS)] for i in range(count)]

@part.field("stock")
def resolve_stock(obj, info, depot="north"):
    return obj.stock[depot]

schema = make_executable_schema(gql("""
  type Query { part(number: Int!): Part  range(start: Int!, count: Int!): [Part!]! }
  type Part { number: Int! name: String! fits: [Int!]! stock(depot: String): Int! }
"""), query, part)

class Housekeeping:
    """Frees the cycles that query documents leave behind after every so many requests, so that memory stays flat."""
    def __init__(self, app, every):
        self.app, self.every, self.served = app, every, 0

    async def __call__(self, scope, receive, send):
        await self.app(scope, receive, send)
        if scope["type"] == "http":
            self.served += 1
            if self.served % self.every == 0:
                gc.collect()

app = Housekeeping(Starlette(routes=[
    Route("/health", lambda request: PlainTextResponse("ok")),
    Mount("/graphql", GraphQL(schema, introspection=False)),
]), int(os.environ.get("COLLECT_EVERY", "100")))
