#!/usr/bin/env python3
"""harvest.py PORT SHARED MODE: takes over the publisher's additions.

One source after another, every 0.9 s. MODE load: the SPARQL server fetches
the file itself (LOAD). MODE put: the harvester fetches it and PUTs the graph.
PORT answers with the number of takeovers.
"""
import http.client
import os
import random
import socket
import sys
import threading
import time
import urllib.request
from urllib.parse import quote
from http.server import BaseHTTPRequestHandler, HTTPServer

PORT, SHARED, MODE = int(sys.argv[1]), sys.argv[2], sys.argv[3]
EVERY = 0.9
SOURCES = ["persons", "places", "works", "events", "bodies"]
TRACE = os.environ.get("HARVEST_TRACE")
done = 0
PREFIX = "PREFIX skos: <http://www.w3.org/2004/02/skos/core#> "


def port_of(name):
    while True:
        try:
            with open(os.path.join(SHARED, name + ".port")) as f:
                return int(f.read())
        except (OSError, ValueError):
            time.sleep(0.1)


def call(fuseki, method, path, body, kind):
    link = http.client.HTTPConnection("127.0.0.1", fuseki, timeout=20)
    try:
        link.request(method, path, body, {"Content-Type": kind})
        answer = link.getresponse()
        answer.read()
        if answer.status >= 300:
            raise OSError("fuseki answered %d" % answer.status)
    finally:
        link.close()


def takeover(fuseki, vendor, source):
    graph = "http://vendor.example.org/" + source
    link = "http://127.0.0.1:%d/%s.ttl" % (vendor, source)
    if MODE == "load":
        update = "DROP SILENT GRAPH <%s> ; LOAD <%s> INTO GRAPH <%s>" % (graph, link, graph)
        call(fuseki, "POST", "/thesaurus/update", update, "application/sparql-update")
    else:
        with urllib.request.urlopen(link, timeout=20) as answer:
            additions = answer.read()
        call(fuseki, "PUT", "/thesaurus/data?graph=" + graph, additions, "text/turtle")


def prime(fuseki):
    """After a restart: asks for and touches concepts until the JVM is warm, then marks it."""
    while True:
        try:
            socket.create_connection(("127.0.0.1", fuseki), 1).close()
            break
        except OSError:
            time.sleep(0.1)
    link = http.client.HTTPConnection("127.0.0.1", fuseki, timeout=20)
    concept = "<http://thesaurus.example.org/c/%d>"
    for n in range(1, 501):
        c = concept % (n * 11)
        ask = PREFIX + "SELECT ?label ?up WHERE { %s skos:prefLabel ?label ; skos:broader/skos:prefLabel ?up }" % c
        link.request("GET", "/thesaurus/query?query=" + quote(ask, safe=""), headers={"Accept": "application/sparql-results+json"})
        link.getresponse().read()
        note = PREFIX + 'DELETE WHERE { %s skos:editorialNote ?n } ; INSERT DATA { %s skos:editorialNote "primed" }' % (c, c)
        link.request("POST", "/thesaurus/update", note, {"Content-Type": "application/sparql-update"})
        link.getresponse().read()
    link.close()


def harvest():
    global done
    vendor, fuseki = port_of("vendor"), port_of("fuseki")
    prime(fuseki)
    for source in SOURCES:
        takeover(fuseki, vendor, source)
    call(fuseki, "PUT", "/thesaurus/data?graph=http://thesaurus.example.org/primed", b"<http://thesaurus.example.org/> <http://purl.org/dc/terms/description> \"primed\" .\n", "text/turtle")
    due = time.monotonic() + 0.5
    while True:
        time.sleep(max(0, due - time.monotonic()))
        due += EVERY * random.uniform(0.9, 1.1)
        begin = time.time()
        try:
            takeover(fuseki, vendor, SOURCES[done % len(SOURCES)])
            done += 1
        except OSError as e:
            if TRACE:
                print("takeover:", e, flush=True)
            due = max(due, time.monotonic() + 0.2)
            continue
        if TRACE:
            print("takeover %.3f %.3f" % (begin, time.time()), flush=True)


class Status(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"%d\n" % done
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


threading.Thread(target=harvest, daemon=True).start()
HTTPServer(("127.0.0.1", PORT), Status).serve_forever()
