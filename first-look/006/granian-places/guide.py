# a guide of walks, rendered by Jinja
from flask import Flask, render_template_string

app = Flask(__name__)
walks = [{"name": f"Walk & talk {i}", "km": 3 + i % 19, "stops": [f"Stop {i}-{k}" for k in range(4)]} for i in range(160)]
page = """<h1>{{ region|title }}</h1><table>
{% for w in walks %}<tr><td>{{ w.name }}</td><td>{{ "%.1f"|format(w.km) }} km</td><td>{% for s in w.stops %}<em>{{ s|upper }}</em> {% endfor %}</td></tr>
{% endfor %}</table>"""


@app.get("/walks/<region>")
def walks_of(region):
    return render_template_string(page, region=region, walks=walks)
