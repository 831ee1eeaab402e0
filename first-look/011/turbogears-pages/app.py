"""Pages of an outdoor shop: product texts in Markdown, wish lists with today's prices."""
import os
import random
import urllib3
from markdown_it import MarkdownIt
from tg import TGController, MinimalApplicationConfigurator, expose
from waitress import serve

http = urllib3.PoolManager(maxsize=16)
PRICES = "http://127.0.0.1:" + os.environ.get("PRICES_PORT", "0")
md = MarkdownIt("commonmark").enable("table")
rng = random.Random(5)
WORDS = "tent rope stove jacket boots water map lamp pole bag frost summit valley river light warm dry strong small blue".split()

def text(paragraphs):
    out = []
    for p in range(paragraphs):
        out.append(f"## Part {p}\n\n" + " ".join(rng.choice(WORDS) + rng.choice(["", "", " *new*", " `mm`", " [more](/p/1)"]) for _ in range(60)))
    return "\n\n".join(out)

# most texts are a paragraph or two; three brands deliver whole manuals
TEXTS = [text(int(os.environ.get("MANUAL", "2")) if i % 20 == 7 else 1 + i % 2) for i in range(60)]
# most wish lists have one or two items, some have many
LISTS = [[rng.randrange(3000) for _ in range(14 if i % 8 == 3 else 1 + i % 2)] for i in range(200)]

class Root(TGController):
    @expose(content_type="text/plain")
    def health(self):
        return "ok"

    @expose(content_type="text/html")
    def text(self, number):
        return md.render(TEXTS[int(number) % 60])

    @expose("json")
    def wishlist(self, number):
        items = LISTS[int(number) % 200]
        return {"items": [{"product": p, "price": http.request("GET", f"{PRICES}/price/{p}").json()["price"]} for p in items]}

config = MinimalApplicationConfigurator()
config.update_blueprint({"root_controller": Root()})
if __name__ == "__main__":
    import sys
    serve(config.make_wsgi_app(), host="127.0.0.1", port=int(sys.argv[1]), threads=int(os.environ.get("THREADS", "8")))
