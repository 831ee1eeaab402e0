import io
import json
import os
import threading

import psycopg2
import web
from cheroot import wsgi
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

urls = ("/course/(\\d+)", "Course", "/catalog", "Catalog", "/certificate/(\\d+)", "Certificate")
local = threading.local()
STYLES = getSampleStyleSheet()
ROW = web.template.Template("""$def with (rows)
<table>
$for r in rows:
    <tr><td>$r[0]</td><td><a href="/course/$r[0]">$r[1]</a></td><td>$r[2]</td></tr>
</table>
""")


def rows(sql, *args):
    if not hasattr(local, "conn"):
        local.conn = psycopg2.connect(host="127.0.0.1", port=os.environ["DB_PORT"], user="web", dbname="postgres")
        local.conn.autocommit = True
    cur = local.conn.cursor()
    cur.execute(sql, args)
    return cur.fetchall()


class Course:
    def GET(self, id):
        id = int(id)
        course = rows("select title, seats, taken, teacher from course where id = %s", id)[0]
        teacher = rows("select name from teacher where id = %s", course[3])[0][0]
        lessons = rows("select title, minutes from lesson where course = %s", id)
        stars = rows("select avg(stars)::float, count(*) from review where course = %s", id)[0]
        latest = rows("select body from review where course = %s order by id desc limit 3", id)
        same = rows("select id, title from course where teacher = %s limit 5", course[3])
        histogram = rows("select stars, count(*) from review where course = %s group by stars order by stars", id)
        minutes = rows("select sum(minutes) from lesson where course = %s", id)[0][0]
        following = rows("select id, title from course where id > %s order by id limit 2", id)
        web.header("Content-Type", "application/json")
        return json.dumps(dict(histogram=histogram, minutes=minutes, following=following, title=course[0], teacher=teacher, lessons=lessons, stars=stars, latest=latest, same=same))


class Catalog:
    def GET(self):
        web.header("Content-Type", "text/html")
        return str(ROW(rows("select id, title, seats - taken from course order by id limit 400")))


class Certificate:
    def GET(self, id):
        lessons = rows("select title, minutes from lesson where course = %s", int(id) % 400 + 1)
        story = [Paragraph("Certificate %s" % id, STYLES["Title"]), Spacer(1, 12)]
        for part in range(int(os.environ.get("PARTS", "40"))):
            story.append(Paragraph("Part %d. The participant has <b>attended</b> all lessons and passed the <i>examination</i>. " % part * 4, STYLES["BodyText"]))
            story.append(Table([[t, "%d min" % m] for t, m in lessons]))
        out = io.BytesIO()
        SimpleDocTemplate(out, pagesize=A4).build(story)
        web.header("Content-Type", "application/pdf")
        return out.getvalue()


web.config.debug = False
server = wsgi.Server(("127.0.0.1", int(os.environ["PORT"])), web.application(urls, globals()).wsgifunc(), numthreads=10)
server.safe_start()
