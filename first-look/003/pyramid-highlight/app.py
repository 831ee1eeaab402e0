import sys
from cheroot.wsgi import Server
from pyramid.config import Configurator
from pyramid.response import Response
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

SNIPPET = "x = 1 + 2\n"

def home(request):
    return Response("ok")

def show(request):
    lexer = get_lexer_by_name(request.params["lang"])
    return Response(highlight(SNIPPET, lexer, HtmlFormatter()))

with Configurator() as config:
    config.add_route("home", "/")
    config.add_view(home, route_name="home")
    config.add_route("show", "/show")
    config.add_view(show, route_name="show")
    app = config.make_wsgi_app()

Server(("127.0.0.1", int(sys.argv[1])), app, numthreads=10).start()
