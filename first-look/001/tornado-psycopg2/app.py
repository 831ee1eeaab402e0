import asyncio, sys
import psycopg2, tornado.web

db = psycopg2.connect(f"host=127.0.0.1 port={sys.argv[2]} user=postgres dbname=postgres")
db.autocommit = True

class Home(tornado.web.RequestHandler):
    async def get(self):
        self.write({"hello": "world"})

class Turnover(tornado.web.RequestHandler):
    async def get(self):
        with db.cursor() as c:
            c.execute("select shop, count(*), sum(cents), percentile_cont(0.5) within group (order by cents)"
                      " from sale group by shop order by shop")
            self.write({"shops": [[s, n, int(t), float(m)] for s, n, t, m in c.fetchall()]})

async def main():
    tornado.web.Application([("/", Home), ("/turnover", Turnover)]).listen(int(sys.argv[1]), "127.0.0.1")
    await asyncio.Event().wait()

asyncio.run(main())
