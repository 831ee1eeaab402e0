"""Stand-in of Elasticsearch 8 for the two calls the handbook makes: index.py PORT
POST /handbook/_search with {"query": {"match": {"text": ...}}} (BM25), GET /handbook/_doc/ID.
An answer is one write; connections are kept."""
import asyncio
import json
import math
import random
import sys

WORDS = ("valve pump filter gasket flange bearing shaft rotor seal motor belt fuse relay sensor cable switch panel grease "
         "torque gauge boiler burner nozzle hose clamp bracket bolt washer spring piston lever pedal brake clutch gear "
         "chain wheel axle frame door hinge lock key lamp bulb battery charger coil fan duct vent drain tank float alarm").split()
random.seed(17)
ARTICLES = {}
for number in range(1, 1501):
    topic = random.sample(WORDS, 6)
    text = " ".join(
        " ".join(random.choice(topic if random.random() < .4 else WORDS) for _ in range(12)).capitalize() + "." for _ in range(8))
    ARTICLES[str(number)] = {"title": "%s and %s" % (topic[0].capitalize(), topic[1]), "chapter": "Chapter %d" % (number % 30), "text": text}

POSTINGS = {}
for key, article in ARTICLES.items():
    for word in article["text"].lower().replace(".", "").split():
        entry = POSTINGS.setdefault(word, {})
        entry[key] = entry.get(key, 0) + 1


def search(query):
    scores = {}
    for word in query["query"]["match"]["text"].lower().split():
        entry = POSTINGS.get(word, {})
        weight = math.log(1 + (len(ARTICLES) - len(entry) + .5) / (len(entry) + .5))
        for key, count in entry.items():
            scores[key] = scores.get(key, 0) + weight * count * 2.2 / (count + 1.2)
    best = sorted(scores.items(), key=lambda pair: -pair[1])[:query.get("size", 10)]
    return {"took": 1, "timed_out": False, "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0}, "hits": {
        "total": {"value": len(scores), "relation": "eq"}, "max_score": best[0][1] if best else None,
        "hits": [{"_index": "handbook", "_id": key, "_score": score, "_source": ARTICLES[key]} for key, score in best]}}


async def serve(reader, writer):
    while True:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, ConnectionError):
            break
        lines = head.split("\r\n")
        method, path, _ = lines[0].split()
        fields = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:] if line)}
        body = await reader.readexactly(int(fields.get("content-length", 0)))
        status = "200 OK"
        if path.split("?")[0] == "/handbook/_search":
            answer = search(json.loads(body))
        else:
            key = path.rsplit("/", 1)[1]
            answer = {"_index": "handbook", "_id": key, "found": key in ARTICLES, "_source": ARTICLES.get(key)}
            if key not in ARTICLES:
                status = "404 Not Found"
        data = json.dumps(answer).encode()
        writer.write(("HTTP/1.1 %s\r\nX-elastic-product: Elasticsearch\r\ncontent-type: application/vnd.elasticsearch+json;"
                      "compatible-with=8\r\ncontent-length: %d\r\n\r\n" % (status, len(data))).encode() + data)
        await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
